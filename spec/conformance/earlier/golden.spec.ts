import { playEarlier } from '../../support/golden-earlier/earlier-player.ts';
import { readEarlierRecording } from '../../support/golden-earlier/earlier-recording.ts';
import { configFor } from '../../support/golden-earlier/earlier-setup.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';

const FILES = [
  '01-event-life.json',
  '02-flapping.json',
  '03-aggregates.json',
  '04-results.json',
  '05-clients.json',
  '06-silenced.json',
  '07-stashes.json',
  '08-checks-request.json',
  '09-http-rules.json',
  '10-pages-filters.json',
  '11-auth.json',
  '12-health-info.json',
  '13-sockets.json',
  '14-ttl.json',
  '20-dashboard-two-dcs.json',
  '21-dashboard-writes.json',
  '22-dashboard-one-dc.json',
];

describe('the API of the first generation answers as recorded', () => {
  for (const file of FILES) {
    it(`in ${file}`, async () => {
      const recording = readEarlierRecording(file);
      const backend = await InProcessBackend.start({ configure: configFor(recording.setup) });
      try {
        await playEarlier(recording, backend);
      } finally {
        await backend.stop();
      }
    });
  }
});
