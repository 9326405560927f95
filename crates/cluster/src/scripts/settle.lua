-- Ends a look: the next one is at the given moment, or never. Somebody may have asked for an earlier one meanwhile;
-- that holds.
--
-- KEYS: looks
-- ARGV: execution, end of the lease, next moment ('' for never)
local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not score or tonumber(score) ~= tonumber(ARGV[2]) then
  return 0
end
if ARGV[3] == '' then
  redis.call('ZREM', KEYS[1], ARGV[1])
else
  redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
end
return 1
