-- Goes on holding messages, where they are still held.
--
-- KEYS: state, leases
-- ARGV: holder, moment, messages…
for i = 3, #ARGV do
  local lease = redis.call('HGET', KEYS[2], ARGV[i])
  if lease and string.sub(lease, 1, #ARGV[1] + 1) == ARGV[1] .. ' ' then
    redis.call('HSET', KEYS[2], ARGV[i], ARGV[1] .. ' ' .. ARGV[2])
  end
end
return redis.call('HGET', KEYS[1], 'status')
