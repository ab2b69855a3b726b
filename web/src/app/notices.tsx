import { Icon } from '../components/icon.tsx';
import { announcement, closeNotice, notices } from '../state/notices.ts';

export function Notices() {
  return (
    <>
      <div class="notices" role="region" aria-label="Messages">
        {notices.value.map(({ id, text, tone, action }) => (
          <div key={id} class={`notice notice-${tone}`} role={tone === 'error' ? 'alert' : 'status'}>
            <span>{text}</span>
            {action !== undefined && (
              <button
                type="button"
                class="button-link"
                onClick={() => {
                  action.run();
                  closeNotice(id);
                }}
              >
                {action.label}
              </button>
            )}
            <button type="button" class="button-plain" aria-label="Close the message" onClick={() => closeNotice(id)}>
              <Icon name="close" />
            </button>
          </div>
        ))}
      </div>
      <div class="sr-only" aria-live="polite" id="announcement">
        {announcement.value}
      </div>
    </>
  );
}
