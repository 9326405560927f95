import { describe, expect, it } from 'vitest';
import { NEW_FORM, connectionOf, formOf, lackOf, passwordsOf, withoutPassword } from './form';

describe('withoutPassword', () => {
  it.each([
    ['amqp://u:p%40ss@host:5672/%2f', 'amqp://u@host:5672/%2f', 'p@ss'],
    ['redis://:secret@host:6379/1', 'redis://host:6379/1', 'secret'],
    ['redis://u:100%@host', 'redis://u@host', '100%'],
    ['amqp://u:a@b@host/%2f', 'amqp://u@host/%2f', 'a@b'],
  ])('takes the password out of %s', (written, address, password) => {
    expect(withoutPassword(written)).toEqual({ address, password });
  });

  it.each(['redis://host:6379', 'amqp://u@host:5672/%2f', 'nonsense', ''])('leaves %j as it is', (address) => {
    expect(withoutPassword(address)).toEqual({ address, password: null });
  });
});

describe('the form of a connection', () => {
  const saved = { name: 'shop', colour: 'red', amqp: 'amqp://u@h/%2f', redis: 'redis://h', prefix: 'a.', dialect: 'rune' as const };

  it('comes back as it was saved, without passwords', () => {
    expect(connectionOf(formOf(saved))).toEqual(saved);
    expect(passwordsOf(formOf(saved))).toEqual({});
  });

  it('hands over only the passwords that were typed', () => {
    expect(passwordsOf({ ...NEW_FORM, redisPassword: 'x' })).toEqual({ redis: 'x' });
  });

  it('says what is missing, one thing after the other', () => {
    const steps = [NEW_FORM, { ...NEW_FORM, name: 'a' }, { ...NEW_FORM, name: 'a', amqp: 'amqp://h' }];
    expect(steps.map((form) => lackOf(form)?.field)).toEqual(['name', 'amqp', 'redis']);
    expect(lackOf({ ...NEW_FORM, name: 'a', amqp: 'amqp://h', redis: 'rediss://h' })).toBeNull();
    expect(lackOf({ ...NEW_FORM, name: 'a', amqp: 'http://h', redis: 'redis://h' })?.field).toBe('amqp');
  });
});
