! Fortran: two subroutines of a module, three to one by the processor's clock.
module work
  use iso_fortran_env, only: int64, real64
  implicit none
contains
  subroutine three_parts(x)
    integer(int64), intent(inout) :: x
    integer :: i
    do i = 1, 200000
      x = ieor(ishft(x, 1), x + i)
    end do
  end subroutine

  subroutine one_part(x)
    integer(int64), intent(inout) :: x
    integer :: i
    do i = 1, 200000
      x = ieor(ishft(x, 3), x - i)
    end do
  end subroutine

  subroutine spend(which, seconds, x)
    integer, intent(in) :: which
    real(real64), intent(in) :: seconds
    integer(int64), intent(inout) :: x
    real(real64) :: begun, now
    call cpu_time(begun)
    do
      if (which == 1) then
        call three_parts(x)
      else
        call one_part(x)
      end if
      call cpu_time(now)
      if (now - begun >= seconds) exit
    end do
    call tell(which, now - begun)
  end subroutine

  subroutine tell(which, seconds)
    integer, intent(in) :: which
    real(real64), intent(in) :: seconds
    character(len=4096) :: path
    character(len=12), parameter :: names(2) = [character(len=12) :: 'three_parts', 'one_part']
    integer :: unit
    call get_environment_variable('TRUTH', path)
    open (newunit=unit, file=trim(path), position='append', action='write')
    write (unit, '(a,1x,a,f12.9)') 'self', trim(names(which)), seconds
    close (unit)
  end subroutine
end module

program language
  use work
  implicit none
  integer(int64) :: x
  integer :: i, unit
  real(real64) :: used
  character(len=4096) :: path
  x = 1
  do i = 1, 4
    call spend(1, 0.09_real64, x)
    call spend(2, 0.03_real64, x)
  end do
  call get_environment_variable('TRUTH', path)
  call cpu_time(used)
  open (newunit=unit, file=trim(path), position='append', action='write')
  write (unit, '(a,f12.9)') 'cpu - ', used
  if (x == 0) write (unit, '(a)') 'error - 1.0'
  close (unit)
end program
