import type { ComponentChildren } from 'preact';

export function Loading({ what = 'Loading' }: { what?: string }) {
  return (
    <div class="state state-loading" role="status">
      <span class="spinner" aria-hidden="true" />
      {what} …
    </div>
  );
}

export function Failure({ title, message, retry }: { title: string; message: string; retry?: () => void }) {
  return (
    <div class="state state-failure" role="alert">
      <strong>{title}</strong>
      <p>{message}</p>
      {retry !== undefined && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state state-empty">
      <strong>{title}</strong>
      {children}
    </div>
  );
}
