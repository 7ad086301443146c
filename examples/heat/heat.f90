! heat.f90: lets a plate warm up for a fixed number of steps and prints how warm it got.
!
! It reads no input; the same steps print the same table.
program heat
  use grid
  implicit none
  integer, parameter :: n = 128, steps = 2400, every = 600
  type(plate) :: p
  integer :: step

  p = new_plate(n, 0.2d0)
  do step = 1, steps
    call advance(p)
    if (mod(step, every) == 0) call report(step)
  end do

contains

  ! A procedure inside the program: it sees `p`.
  subroutine report(step)
    integer, intent(in) :: step

    print '(a, i5, a, f8.3, a, f8.3)', 'step', step, '  mean', mean_of(p), '  hottest', hottest(p)
    call draw_row(2)
  end subroutine report

  subroutine draw_row(row)
    integer, intent(in) :: row
    character(len=*), parameter :: shades = ' .:-=+*#%@'
    character(len=n/2) :: line
    integer :: j, shade

    do j = 1, n/2
      shade = 1 + min(9, int(p%t(row, 2*j)/10.01d0))
      line(j:j) = shades(shade:shade)
    end do
    print '(2a)', '  ', trim(line)
  end subroutine draw_row
end program heat
