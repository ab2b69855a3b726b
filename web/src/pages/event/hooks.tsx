/** The result of a command that ran because of the status of a check. */
export interface HookResult {
  metadata?: { name?: string };
  command?: string;
  output?: string;
  status?: number;
}

/** The output of the hooks of the last result. */
export function Hooks({ hooks }: { hooks: readonly HookResult[] }) {
  if (hooks.length === 0) return null;
  return (
    <section class="card" aria-labelledby="hooks">
      <header>
        <h2 id="hooks">Hooks</h2>
      </header>
      {hooks.map(({ metadata, command = '', output = '', status = 0 }, index) => (
        <details key={index} open={hooks.length === 1}>
          <summary>
            <strong>{metadata?.name ?? command}</strong>{' '}
            <span class={status === 0 ? 'muted' : 'tone-warning'}>exit code {status}</span>
          </summary>
          {metadata?.name !== undefined && <code class="muted">{command}</code>}
          <pre class="output">{output === '' ? '(no output)' : output}</pre>
        </details>
      ))}
    </section>
  );
}
