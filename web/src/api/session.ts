import { signal } from '@preact/signals';
import { Problem } from './problem.ts';

interface Tokens {
  access: string;
  refresh: string;
  expiresAtS: number;
  user: string;
}

interface TokenAnswer {
  access_token: string;
  refresh_token: string;
  expires_at: number;
}

const KEY = 'mon.session';
/** Tokens are exchanged this long before they expire. */
const MARGIN_S = 60;

const read = (): Tokens | undefined => {
  const text = localStorage.getItem(KEY);
  return text === null ? undefined : (JSON.parse(text) as Tokens);
};

/** The tokens of the login. All tabs share them. */
const tokens = signal<Tokens | undefined>(read());

addEventListener('storage', ({ key }) => {
  if (key === KEY || key === null) tokens.value = read();
});

function keep(next: Tokens | undefined): void {
  if (next === undefined) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, JSON.stringify(next));
  tokens.value = next;
}

const tokensOf = (user: string, answer: TokenAnswer): Tokens => ({
  access: answer.access_token,
  refresh: answer.refresh_token,
  expiresAtS: answer.expires_at,
  user,
});

export const isLoggedIn = (): boolean => tokens.value !== undefined;
export const username = (): string => tokens.value?.user ?? '';

/** @throws Problem */
export async function logIn(user: string, password: string): Promise<void> {
  const bytes = new TextEncoder().encode(`${user}:${password}`);
  const basic = btoa(String.fromCharCode(...bytes));
  const response = await reach('/auth', { headers: { Authorization: `Basic ${basic}` } });
  if (!response.ok) throw new Problem(response.status, await loginMessage(response));
  keep(tokensOf(user, (await response.json()) as TokenAnswer));
}

async function loginMessage(response: Response): Promise<string> {
  if (response.status === 401) return 'The user name or the password is wrong.';
  const wait = response.headers.get('Retry-After');
  if (response.status === 429) return `Too many attempts. Try again in ${wait ?? 'a few'} seconds.`;
  return (await response.text()).trim() || `The backend answered ${response.status}.`;
}

export async function logOut(): Promise<void> {
  const current = tokens.value;
  keep(undefined);
  if (current === undefined) return;
  await reach('/auth/logout', {
    method: 'POST',
    headers: { Authorization: `Bearer ${current.access}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ refresh_token: current.refresh }),
  });
}

/** Ends the login in the browser, because the backend does not accept it any more. */
export function forget(): void {
  keep(undefined);
}

let exchanging: Promise<string> | undefined;

/** Returns a token that is still valid for a while. @throws Problem when the login has ended */
export async function accessToken({ isRejected = false } = {}): Promise<string> {
  const current = read();
  if (current === undefined) {
    keep(undefined);
    throw new Problem(401, 'Your session has ended. Log in again.');
  }
  const isOwn = current.access === tokens.value?.access;
  if (!isOwn) tokens.value = current;
  const isFresh = current.expiresAtS - Date.now() / 1_000 > MARGIN_S;
  if (isFresh && !(isRejected && isOwn)) return current.access;
  exchanging ??= exchange(current).finally(() => {
    exchanging = undefined;
  });
  return exchanging;
}

async function exchange(current: Tokens): Promise<string> {
  const response = await reach('/auth/token', {
    method: 'POST',
    headers: { Authorization: `Bearer ${current.access}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ refresh_token: current.refresh }),
  });
  if (response.ok) {
    const next = tokensOf(current.user, (await response.json()) as TokenAnswer);
    keep(next);
    return next.access;
  }
  if (response.status === 401 || response.status === 400) {
    keep(undefined);
    throw new Problem(401, 'Your session has ended. Log in again.');
  }
  throw new Problem(response.status, `The backend answered ${response.status}.`);
}

/** Like `fetch`, but a failure is a `Problem`. */
export async function reach(path: string, init: RequestInit = {}): Promise<Response> {
  try {
    return await fetch(path, { ...init, credentials: 'omit', cache: 'no-store' });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new Problem(0, 'The backend cannot be reached.');
  }
}
