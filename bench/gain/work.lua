-- The script of bench/gain.py: calls, tables, strings, closures, arithmetic.
local rounds = tonumber(arg[1])
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local Point = {}
Point.__index = Point
function Point.new(x, y) return setmetatable({x = x, y = y}, Point) end
function Point:add(o) return Point.new(self.x + o.x, self.y + o.y) end
local sum = 0
for round = 1, rounds do
  sum = sum + fib(20)
  local p = Point.new(0, 0)
  for i = 1, 30000 do p = p:add(Point.new(i, -i)) end
  sum = sum + p.x
  local words = {}
  for i = 1, 8000 do words[i] = string.format("%d:%s", (i * 7919) % 1000, "w" .. i) end
  table.sort(words)
  for w in table.concat(words, " "):gmatch("(%d+):") do sum = sum + tonumber(w) end
  local sieve = {}
  for i = 2, 30000 do sieve[i] = true end
  for i = 2, 173 do if sieve[i] then for k = i * i, 30000, i do sieve[k] = false end end end
  for i = 2, 30000 do if sieve[i] then sum = sum + 1 end end
end
print(sum)
