import { useState } from 'preact/hooks';
import { messageOf } from '../api/problem.ts';
import { logIn } from '../api/session.ts';

function fieldOf(data: FormData, name: string): string {
  const value = data.get(name);
  return typeof value === 'string' ? value : '';
}

export function LoginPage() {
  const [error, setError] = useState('');
  const [isBusy, setBusy] = useState(false);
  const submit = async (form: HTMLFormElement): Promise<void> => {
    const data = new FormData(form);
    setBusy(true);
    setError('');
    try {
      await logIn(fieldOf(data, 'username'), fieldOf(data, 'password'));
    } catch (problem) {
      setError(messageOf(problem));
      form.querySelector<HTMLInputElement>('[name=password]')?.select();
    } finally {
      setBusy(false);
    }
  };
  return (
    <main class="login" id="main">
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          void submit(event.currentTarget);
        }}
      >
        <img src="/icon.svg" alt="" width="40" height="40" />
        <h1>mon</h1>
        <label>
          User name
          <input name="username" autoComplete="username" required autofocus />
        </label>
        <label>
          Password
          <input name="password" type="password" autoComplete="current-password" required />
        </label>
        {error !== '' && (
          <p class="error-text" role="alert">
            {error}
          </p>
        )}
        <button type="submit" class="button-primary" disabled={isBusy}>
          {isBusy ? 'Logging in …' : 'Log in'}
        </button>
      </form>
    </main>
  );
}
