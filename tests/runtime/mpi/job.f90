! Each rank calls `work` 100 times more than its number.
subroutine work(x)
  real(8), intent(inout) :: x
  integer :: i
  do i = 1, 20000
    x = x + sqrt(real(i, 8))
  end do
end subroutine

program job
  use MODULE
  integer :: e, r, i
  real(8) :: x
  x = 0
  call mpi_init(e)
  call mpi_comm_rank(MPI_COMM_WORLD, r, e)
  do i = 1, 100 + r
    call work(x)
  end do
  if (x < 0) print *, x
  call FINALIZE
end program
