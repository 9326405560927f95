-- Takes timers that are due. One that was taken is free again when the lease is over: whoever took it may have died
-- before it could say so to anybody. Asking again with the same word gives the same answer. Their execution may be over
-- and gone by now, so what is noted here has an end of its own.
--
-- KEYS: timers
-- ARGV: now, length of the lease, a word that nobody else says, life in ms, timers…
local ours = {}
for i = 5, #ARGV do
  local taken = redis.call('HGET', KEYS[1], ARGV[i])
  local at, by = string.match(taken or '', '^(%S+) (.+)$')
  if not at or by == ARGV[3] or tonumber(ARGV[1]) - tonumber(at) >= tonumber(ARGV[2]) then
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[1] .. ' ' .. ARGV[3])
    ours[#ours + 1] = 1
  else
    ours[#ours + 1] = 0
  end
end
if redis.call('PTTL', KEYS[1]) == -1 then
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
end
return ours
