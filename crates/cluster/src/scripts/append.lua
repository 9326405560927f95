-- Appends facts to the log of an execution, if the log is as long as the writer believes. One atomic step: either all
-- of it happens or nothing. Everything is looked at before anything is written.
--
-- KEYS: state, log, pending, leases, payloads, timers
-- ARGV: position, most entries of a tail, life in ms, status ('' while it goes on), then four counted lists: facts (at,
--       fact), units to publish (message, position), leases (message, holder and moment), messages whose lease is over
local standing = redis.call('HMGET', KEYS[1], 'position', 'status')
local position = tonumber(ARGV[1])
if not standing[1] then
  if position ~= 0 then
    return {'lost'}
  end
elseif standing[2] ~= 'running' then
  return {'ended', standing[2]}
elseif tonumber(standing[1]) ~= position then
  return {'behind', redis.call('XRANGE', KEYS[2], (position + 1) .. '-0', '+', 'COUNT', ARGV[2])}
end

local at = 5
local function list(width, each)
  local count = tonumber(ARGV[at])
  at = at + 1
  for _ = 1, count do
    each(at)
    at = at + width
  end
end

list(2, function(i)
  position = position + 1
  redis.call('XADD', KEYS[2], position .. '-0', 'at', ARGV[i], 'fact', ARGV[i + 1])
end)
list(2, function(i)
  redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 1])
end)
list(2, function(i)
  redis.call('HSET', KEYS[4], ARGV[i], ARGV[i + 1])
end)
list(1, function(i)
  redis.call('HDEL', KEYS[4], ARGV[i])
end)

local status = ARGV[4]
redis.call('HSET', KEYS[1], 'position', position, 'status', status == '' and 'running' or status)
for i = 1, 6 do
  redis.call('PEXPIRE', KEYS[i], ARGV[3])
end
return {'appended', position}
