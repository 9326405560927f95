-- Keeps payloads. What they belong to may be over and gone: then nobody comes by to take them away, so they have an end
-- of their own.
--
-- KEYS: payloads
-- ARGV: life in ms, then hashes and payloads
for i = 2, #ARGV, 2 do
  redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
end
if redis.call('PTTL', KEYS[1]) == -1 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
