-- Claims executions that somebody has to look at. A claimed one is due again when the lease is over, unless the look
-- has been settled by then.
--
-- KEYS: looks
-- ARGV: now, end of the lease, most
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[3])
for _, execution in ipairs(due) do
  redis.call('ZADD', KEYS[1], ARGV[2], execution)
end
return due
