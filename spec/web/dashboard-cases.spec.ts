import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { itHasTestsForCases, numbersFrom, type Proof } from '../support/conformance-cases.ts';

const LIVE = 'web/dashboard-live.spec.ts';
const LISTS = 'web/dashboard-lists.spec.ts';
const PAGES = 'web/dashboard-pages.spec.ts';
const VIEWS = 'web/dashboard-views.spec.ts';
const ACCESS = 'web/dashboard-access.spec.ts';
const SIZE = 'web/dashboard-size.spec.ts';
const STORY = 'web/dashboard-story.spec.ts';
const MACHINES = 'web/machines-browser.spec.ts';
const FORMATS = 'web/resource-formats.spec.ts';
const INSPECTOR = 'conformance/inspection/inspector.spec.ts';
const DRY_RUN = 'conformance/pipeline/dry-run.spec.ts';

/** The rows of the feature table of the dashboard, by their numbers. 21 and 22 are of the command line client. */
const FEATURES: Readonly<Record<number, readonly Proof[]>> = {
  1: [
    [LIVE, '21: shows the same view in another browser that opens its address'],
    [VIEWS, 'collapses all groups, counts what is in them, and opens single ones'],
    [LISTS, 'are filtered by a click on a label, which can be copied'],
  ],
  2: [[LIVE, '22: lets a new critical event wait within a second, and moves no row until it is shown']],
  3: [
    [SIZE, '27: shows the first events'],
    [SIZE, 'within a second, filters within 200 ms'],
    [SIZE, 'draws sixty changes a second without a frame above 50 ms'],
  ],
  4: [
    [LIVE, 'resolves, deletes and undoes several events at once'],
    [LISTS, 'silence and run the checks of several events at once, with undo'],
    [LISTS, 'delete an entity from its row, with undo'],
    [LISTS, 'revoke an API key, with undo'],
  ],
  5: [[STORY, 'is shown from its registration to the replay of a notification']],
  6: [[LIVE, '24: previews exactly the events that a silence then silences']],
  7: [[LISTS, 'show who silenced what and why, and mark a silence that ends within ten minutes']],
  8: [
    [MACHINES, '29: move to warning and to critical within 500 ms'],
    [PAGES, 'draw the keepalives and the connection of an agent live'],
    [PAGES, 'draw the chart of the connection that the user chooses'],
  ],
  9: [
    [INSPECTOR, 'case 30: sends messages in the format of the hosted inspector'],
    ['conformance/inspection/inspect-relay.spec.ts', 'receives the messages of the configured actors'],
    [MACHINES, 'give the hosted inspector the same messages'],
  ],
  10: [
    [PAGES, 'show in the row of an entity when the silence of its agent raises an alert'],
    [PAGES, 'with the times to their deadlines'],
    [MACHINES, 'show the nested state of an agent, its deadline and what can happen next'],
  ],
  11: [[LISTS, 'have the last 21 results, each of which the keyboard reaches']],
  12: [
    [PAGES, 'make a dry run from a check, with one of its events'],
    [PAGES, 'make a dry run of a handler, with an event that does not name it'],
    [DRY_RUN, 'of a stored event says which expression denies it'],
    [DRY_RUN, 'evaluates a JavaScript mutator and runs no command'],
  ],
  13: [
    [ACCESS, 'has no serious violation of accessibility in ${colorScheme} colours'],
    [ACCESS, 'has the high contrast that the settings offer'],
  ],
  14: [
    [LIVE, '26: does everything by the keyboard'],
    [LISTS, 'move with j and k and open a row with Enter'],
    [LISTS, 'act on the row of the keyboard'],
    [MACHINES, 'can be moved and scaled with the keyboard'],
  ],
  15: [
    [ACCESS, '25: has no serious violation of accessibility'],
    [LISTS, 'tell screen readers of new critical events'],
  ],
  16: [
    [ACCESS, 'fits a screen of 360 pixels'],
    [ACCESS, 'has its actions on a screen of 360 pixels'],
  ],
  17: [[ACCESS, '28: asks no other host, and causes no error']],
  18: [
    [PAGES, 'edit a resource in YAML and store it'],
    [FORMATS, 'is the same after it was written as ${format} and read again'],
  ],
  19: [[LISTS, 'are a wall by their address']],
  20: [['http/openapi/openapi.spec.ts', 'loads its style and scripts from this host and needs no credentials']],
  23: [[SIZE, 'loads less than 100 kB at first']],
  24: [
    ['conformance/operations/metrics.spec.ts', 'have the types and labels of the reference'],
    ['http/routes/status.spec.ts', 'is healthy when the store answers'],
    ['conformance/agents/agent-visibility.spec.ts', 'shows a problem with the seconds'],
  ],
};

/** The conformance cases of the dashboard and the inspector, by their numbers. */
const CASES: Readonly<Record<number, readonly Proof[]>> = {
  20: [
    ['assets/unpack.spec.ts', 'is refused for .. in a path'],
    ['assets/damaged-archives.spec.ts', 'write nothing outside their directory'],
  ],
  21: [[LIVE, '21: ']],
  22: [[LIVE, '22: ']],
  23: [['web/dashboard-reconnect.spec.ts', '23: says within five seconds that it reconnects']],
  24: [[LIVE, '24: ']],
  25: [[ACCESS, '25: ']],
  26: [[LIVE, '26: ']],
  27: [[SIZE, '27: ']],
  28: [[ACCESS, '28: ']],
  29: [
    [MACHINES, '29: count the agents of each state in the gallery'],
    [MACHINES, '29: move to warning'],
  ],
  30: [[INSPECTOR, 'case 30: ']],
  31: [
    [INSPECTOR, 'case 31: redacts secrets'],
    [INSPECTOR, 'case 31: refuses a user without permission'],
    [INSPECTOR, 'case 31: refuses other paths, and all connections when the inspector is disabled'],
  ],
  32: [[INSPECTOR, 'case 32: ']],
};

const IMAGES = fileURLToPath(new URL('../../docs/images/', import.meta.url));
/** The views, each of which has a picture in light and dark colours. */
const PICTURES = (
  'actor agents aggregates check checks editor entities entity entry event events events-grouped handler handlers home ' +
  'inspector ledger login machine-actor machine-replay machines metrics notifications settings silences tour users wall'
).split(' ');

describe('the features of the dashboard', () => {
  itHasTestsForCases(FEATURES, [...numbersFrom(1, 20), 23, 24]);
});

describe('the conformance cases of the dashboard and the inspector', () => {
  itHasTestsForCases(CASES, numbersFrom(20, 32));

  it('have pictures of each view in light and dark colours', () => {
    const names = PICTURES.flatMap((name) => [`${name}-light.png`, `${name}-dark.png`]);
    expect(names.filter((name) => !existsSync(IMAGES + name))).to.deep.equal([]);
  });
});
