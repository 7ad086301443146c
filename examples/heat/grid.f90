! grid.f90: a square plate whose temperature spreads: the grid and one step of time.
!
! Explicit scheme, fixed borders. It refuses steps that would be unstable: `rate` is at most 0.25.
module grid
  implicit none
  private
  public :: plate, new_plate, advance, mean_of, hottest

  type :: plate
    integer :: n
    real(8) :: rate
    real(8), allocatable :: t(:, :)
  end type plate

contains

  function new_plate(n, rate) result(p)
    integer, intent(in) :: n
    real(8), intent(in) :: rate
    type(plate) :: p

    p%n = n
    p%rate = min(rate, 0.25d0)
    allocate (p%t(n, n))
    p%t = 20
    p%t(1, :) = 100
    p%t(n, n/2:) = 60
  end function new_plate

  pure function spread_at(t, i, j) result(change)
    real(8), intent(in) :: t(:, :)
    integer, intent(in) :: i, j
    real(8) :: change

    change = t(i - 1, j) + t(i + 1, j) + t(i, j - 1) + t(i, j + 1) - 4*t(i, j)
  end function spread_at

  subroutine advance(p)
    type(plate), intent(inout) :: p
    real(8) :: before(p%n, p%n)
    integer :: i, j

    before = p%t
    do j = 2, p%n - 1
      do i = 2, p%n - 1
        p%t(i, j) = before(i, j) + p%rate*spread_at(before, i, j)
      end do
    end do
  end subroutine advance

  function mean_of(p) result(mean)
    type(plate), intent(in) :: p
    real(8) :: mean

    mean = sum(p%t)/size(p%t)
  end function mean_of

  ! The highest temperature inside the borders.
  function hottest(p) result(top)
    type(plate), intent(in) :: p
    real(8) :: top

    top = maxval(p%t(2:p%n - 1, 2:p%n - 1))
  end function hottest
end module grid
