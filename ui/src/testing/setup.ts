import { cleanup } from '@testing-library/react';
import { afterEach, beforeEach } from 'vitest';
import { INITIAL_STATE, useStore } from '../state/store';

/** React tells changes at once where it knows that it is tested. The library says so for the first file it is loaded by alone. */
const page = globalThis as typeof globalThis & { IS_REACT_ACT_ENVIRONMENT?: boolean };

beforeEach(() => {
  page.IS_REACT_ACT_ENVIRONMENT = true;
  localStorage.clear();
  useStore.setState(INITIAL_STATE, true);
});

afterEach(cleanup);
