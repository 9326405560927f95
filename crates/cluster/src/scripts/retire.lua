-- An execution has ended: what it worked with stays for a while only. The while is short once its facts are kept
-- elsewhere, whoever comes first with that; but nothing is let go while its end may still have to be told. Saying it
-- again makes no life longer.
--
-- KEYS: state, pending, then the rest of what it worked with
-- ARGV: '1' if the facts are kept elsewhere now, life in ms, life in ms once they are
if redis.call('EXISTS', KEYS[1]) == 0 then
  return
end
if ARGV[1] == '1' then
  redis.call('HSET', KEYS[1], 'kept', '1')
  if redis.call('EXISTS', KEYS[2]) == 1 then
    return
  end
end
local kept = redis.call('HEXISTS', KEYS[1], 'kept') == 1
local life = tonumber(kept and ARGV[3] or ARGV[2])
for i = 2, #KEYS do
  local left = redis.call('PTTL', KEYS[i])
  if left == -1 or left > life then
    redis.call('PEXPIRE', KEYS[i], life)
  end
end
