/** Labels as links that filter by them. */
export function Labels({
  labels,
  hrefOf,
}: {
  labels: Readonly<Record<string, string>>;
  hrefOf?: (label: string) => string;
}) {
  const entries = Object.entries(labels);
  if (entries.length === 0) return null;
  return (
    <span class="chips">
      {entries.map(([name, value]) => {
        const text = `${name}=${value}`;
        const content = (
          <>
            <span class="muted">{name}</span>
            {value}
          </>
        );
        return hrefOf === undefined ? (
          <span key={name} class="chip" title={text}>
            {content}
          </span>
        ) : (
          <a key={name} class="chip" href={hrefOf(text)} title={`Only ${text}`}>
            {content}
          </a>
        );
      })}
    </span>
  );
}
