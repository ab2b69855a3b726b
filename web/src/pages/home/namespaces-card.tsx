import { StatusShape } from '../../components/status.tsx';
import { paths } from '../../routing/paths.ts';
import type { Loaded } from '../../state/resource.ts';
import type { NamespaceSummary } from './summaries.ts';

const TONES = ['critical', 'warning', 'unknown'] as const;

/** The problems and agents of each namespace that the user may see. */
export function NamespacesCard({ loaded: { data, error } }: { loaded: Loaded<NamespaceSummary[]> }) {
  return (
    <section class="card" aria-labelledby="namespaces">
      <header>
        <h2 id="namespaces">Namespaces</h2>
      </header>
      {error !== undefined && data === undefined && <p class="error-text">{error}</p>}
      <table class="namespaces">
        <thead>
          <tr>
            <th scope="col">Namespace</th>
            {TONES.map((tone) => (
              <th key={tone} scope="col" class="number">
                {tone[0]?.toUpperCase()}
                {tone.slice(1)}
              </th>
            ))}
            <th scope="col" class="number">
              Agents
            </th>
          </tr>
        </thead>
        <tbody>
          {data?.map((one) => (
            <Row key={one.name} {...one} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Row({ name, problems, agents }: NamespaceSummary) {
  const count = agents === null ? undefined : Object.values(agents).reduce((sum, number) => sum + number, 0);
  return (
    <tr data-namespace={name}>
      <th scope="row">
        <a href={paths.home(name)} title={name}>
          {name}
        </a>
      </th>
      {TONES.map((tone) => (
        <td key={tone} class="number" data-tone={tone}>
          <Number
            value={problems?.[tone]}
            tone={tone}
            href={`${paths.events(name)}?status=${tone}`}
            label={`${problems?.[tone] ?? 0} ${tone} in ${name}`}
          />
        </td>
      ))}
      <td class="number" data-tone="agents">
        <Number value={count} href={paths.agents(name)} label={`${count ?? 0} agents in ${name}`} />
      </td>
    </tr>
  );
}

interface NumberProps {
  /** Undefined when the user may not see it. */
  value: number | undefined;
  tone?: (typeof TONES)[number];
  href: string;
  label: string;
}

function Number({ value, tone, href, label }: NumberProps) {
  if (value === undefined) return <span class="muted">–</span>;
  const isMarked = tone !== undefined && value > 0;
  return (
    <a href={href} aria-label={label} class={isMarked ? `tone-${tone}` : 'muted'}>
      {isMarked && <StatusShape tone={tone} />} {value.toLocaleString()}
    </a>
  );
}
