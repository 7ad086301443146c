import sys,gzip
def v(n):
    n&=(1<<64)-1; o=b''
    while n>127: o+=bytes([n&127|128]); n>>=7
    return o+bytes([n])
def u(f,n): return v(f<<3)+v(n)
def m(f,b): return v(f<<3|2)+v(len(b))+b
S=["","samples","count","cpu","nanoseconds","/usr/bin/prog","main","_Z4leafi","leaf(int)","inlined","thread","worker","other"]
p=m(1,u(1,1)+u(2,2))+m(1,u(1,3)+u(2,4))
p+=m(2,m(1,v(2)+v(1))+m(2,v(3)+v(3000))+m(3,u(1,10)+u(2,11)))
p+=m(2,u(1,1)+u(2,2)+u(2,2000)+m(3,u(1,12)+u(3,5)))
p+=m(2,m(1,v(3)+v(1))+m(2,v(1)+v((1<<64)-5)))
p+=m(3,u(1,1)+u(2,0x1000)+u(3,0x2000)+u(5,5))
p+=m(4,u(1,1)+u(2,1)+u(3,0x1010)+m(4,u(1,1)+u(2,7)))
p+=m(4,u(1,2)+u(2,1)+u(3,0x1020)+m(4,u(1,3)+u(2,3))+m(4,u(1,2)+u(2,9)))
p+=m(4,u(1,3)+u(2,1)+u(3,0x1030))
p+=m(5,u(1,1)+u(2,6)+u(3,6))+m(5,u(1,2)+u(2,8)+u(3,7))+m(5,u(1,3)+u(2,9))
for s in S: p+=m(6,s.encode())
p+=u(9,1700000000)+u(10,5000000)+m(11,u(1,3)+u(2,4))+u(12,1000)
d=sys.argv[1]
open(d+'/bare','wb').write(p); open(d+'/packed','wb').write(gzip.compress(p,mtime=0))
