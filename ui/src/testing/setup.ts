import { cleanup } from '@testing-library/react';
import { afterEach, beforeEach } from 'vitest';
import { INITIAL_STATE, useStore } from '../state/store';

beforeEach(() => {
  localStorage.clear();
  useStore.setState(INITIAL_STATE, true);
});

afterEach(cleanup);
