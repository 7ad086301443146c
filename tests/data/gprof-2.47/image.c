int a(int x)
{
    return x + 1;
}

int b(int x)
{
    return a(x) + 2;
}

int c(int x)
{
    return b(x) + 3;
}

void _start(void)
{
    c(1);
}

int d(int x)
{
    return c(x) + 4;
}
