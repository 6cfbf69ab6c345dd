/** A guarantee, and the tests that try to break it. */
export interface FaultTest {
  name: string
  /** The guarantee. */
  guarantee: string
  /** Paths of test files, relative to the root. */
  files: string[]
  /** Parts of test names to select; all tests of the files if absent. */
  testNames?: string[]
  /** Unit of the count. */
  unit: string
  /** Variables that make a run longer: the value in the first run, and the maximum. */
  sizes?: Record<string, VariableRange>
  /** Variable for the random seed of a run, so that it can be repeated. */
  seed?: string
  /**
   * Number of units in a run. `printed`: the tests print it in lines such as `12 kills`. `cases`: the cases are always the
   * same, so the fault test runs once, counts its tests, and states no rate.
   */
  count: ((run: { size: (variable: string) => number; passed: number }) => number) | 'printed' | 'cases'
  /** Share of the time, relative to 1 for the others. */
  share?: number
  /** Minimum run time before a run counts as hanging; half an hour if absent. */
  minTimeoutSeconds?: number
}

export interface VariableRange {
  from: number
  to: number
}

const program = (name: string) => `server/test/program/${name}.slow.test.ts`

/** All fault tests of `npm run faults`, in order. */
export const faultTests: readonly FaultTest[] = [
  {
    name: 'kill-service',
    guarantee: 'no acknowledged write of a lead and no event is lost when the service or the database is killed',
    files: [program('kill-writes')],
    unit: 'kills',
    sizes: { KILL_ROUNDS: { from: 9, to: 102 } },
    count: ({ size }) => size('KILL_ROUNDS'),
    share: 2,
  },
  {
    name: 'kill-database',
    guarantee: 'the embedded database recovers by itself with everything that it acknowledged',
    files: ['server/test/base/embedded/kill.slow.test.ts'],
    testNames: ['no acknowledged write is lost'],
    unit: 'kills',
    sizes: { KILL_ROUNDS: { from: 9, to: 102 } },
    count: ({ size }) => size('KILL_ROUNDS'),
  },
  {
    name: 'kill-pool',
    guarantee: 'a busy pool survives kills of its database: no request hangs, no connection leaks',
    files: ['server/test/base/postgres/driver.slow.test.ts'],
    testNames: ['a busy pool survives'],
    unit: 'kills',
    sizes: { KILL_ROUNDS: { from: 4, to: 102 } },
    count: ({ size }) => size('KILL_ROUNDS'),
  },
  {
    name: 'cut-connection',
    guarantee: 'a connection to the database can end at any byte',
    files: ['server/test/base/postgres/driver.test.ts'],
    testNames: ['a connection that ends at any byte'],
    unit: 'cuts',
    sizes: { CUT_STEP: { from: 1, to: 1 } },
    count: 'cases',
  },
  {
    name: 'database-away',
    guarantee: 'during a database outage every operation answers within 20 s, never with 500, and recovers by itself',
    files: [program('availability/database-away'), program('availability/writes-hang')],
    unit: 'outages',
    count: ({ passed }) => passed,
  },
  {
    name: 'failover',
    guarantee: 'killing, stopping or freezing the primary loses no acknowledged write and causes no 500',
    files: [program('primary-moves')],
    unit: 'moves',
    sizes: { FAILOVER_ROUNDS: { from: 1, to: 5 } },
    count: ({ size }) => 3 * size('FAILOVER_ROUNDS'),
    share: 2,
  },
  {
    name: 'rolling-restart',
    guarantee: 'no request fails while every process is restarted in turn under load',
    files: [program('availability/rolling-restart')],
    unit: 'requests',
    count: 'printed',
  },
  {
    name: 'kill-sends',
    guarantee: 'a process killed at any step of a send sends nothing twice, and each key gets one answer',
    files: ['server/test/inbox/send/send-crash.slow.test.ts'],
    unit: 'kills',
    sizes: { SEND_CRASH_ROUNDS: { from: 3, to: 20 } },
    count: 'printed',
  },
  {
    name: 'kill-senders',
    guarantee:
      'when a process is killed during many sends, the other one completes every message and sends no key twice',
    files: [program('two-nodes')],
    testNames: ['a process killed amid sends'],
    unit: 'kills',
    sizes: { KILL_ROUNDS: { from: 2, to: 102 } },
    count: ({ size }) => size('KILL_ROUNDS'),
  },
  {
    name: 'same-key',
    guarantee: 'a key sent 50 times at once to two nodes causes one send and one answer',
    files: ['server/test/inbox/send/send-idempotency.test.ts', program('two-nodes')],
    testNames: ['50 times at once', '50 parallel requests'],
    unit: 'keys',
    sizes: { IDEMPOTENCY_KEYS: { from: 40, to: 200 } },
    count: ({ size }) => 2 * size('IDEMPOTENCY_KEYS'),
  },
  {
    name: 'automation-crashes',
    guarantee: 'killed at any step on two nodes, each automation rule acts once on each event, and none is left out',
    files: ['server/test/automation/automation-crash.slow.test.ts'],
    unit: 'runs',
    sizes: { AUTOMATION_CRASH_ROUNDS: { from: 26, to: 100 } },
    count: ({ size }) => 20 * size('AUTOMATION_CRASH_ROUNDS'),
  },
  {
    name: 'broadcast-crashes',
    guarantee: 'killed at any step on two nodes, a broadcast sends each recipient one message or names a reason',
    files: ['server/test/broadcasts/broadcast-crash.slow.test.ts'],
    unit: 'recipients',
    sizes: { BROADCAST_CRASH_RECIPIENTS: { from: 600, to: 5000 } },
    count: ({ size }) => size('BROADCAST_CRASH_RECIPIENTS'),
  },
  {
    name: 'sequence-crashes',
    guarantee: 'killed at any step on two nodes, each step of a sequence is done at most once, and no run is lost',
    files: ['server/test/sequences/sequence-crash.slow.test.ts'],
    unit: 'runs',
    sizes: { SEQUENCE_CRASH_ROUNDS: { from: 19, to: 100 } },
    count: ({ size }) => 28 * size('SEQUENCE_CRASH_ROUNDS'),
  },
  {
    name: 'budgets',
    guarantee: 'no order of sends, late prices and counts on two nodes spends more than a budget, or keeps it reserved',
    files: ['server/test/inbox/budgets/interleavings.slow.test.ts'],
    unit: 'orders',
    sizes: { BUDGET_ROUNDS: { from: 6, to: 100 } },
    seed: 'BUDGET_SEED',
    count: ({ size }) => size('BUDGET_ROUNDS'),
  },
  {
    name: 'takeover-races',
    guarantee: 'after a takeover has been answered, no node starts a send of the previous owner',
    files: ['server/test/inbox/send/takeover-races.slow.test.ts', program('two-nodes')],
    testNames: ['no send of the previous owner', 'no send starts once'],
    unit: 'races',
    sizes: { TAKEOVER_ROUNDS: { from: 150, to: 1000 } },
    count: ({ size }) => 2 * size('TAKEOVER_ROUNDS'),
  },
  {
    name: 'kill-sessions',
    guarantee:
      "a linked phone's messages are neither lost nor duplicated while the processes with its session are killed and stalled",
    files: [program('session-takeover')],
    unit: 'ends',
    sizes: { TAKEOVER_KILLS: { from: 2, to: 10 } },
    count: ({ size }) => 2 * size('TAKEOVER_KILLS'),
  },
  {
    name: 'inbound-storm',
    guarantee: 'callbacks in any order over two nodes: statuses only advance, and every message is stored once',
    files: [program('two-nodes-webhooks')],
    unit: 'items',
    sizes: { WEBHOOK_ITEMS: { from: 2000, to: 21_000 } },
    count: ({ size }) => size('WEBHOOK_ITEMS'),
  },
  {
    name: 'feed',
    guarantee: 'a reader of the feed misses no event while writers commit, roll back and are killed',
    files: ['server/test/events/order.test.ts'],
    unit: 'events',
    sizes: { FEED_EVENTS: { from: 1000, to: 50_000 } },
    count: ({ size }) => 2 * size('FEED_EVENTS'),
  },
  {
    name: 'feed-interleavings',
    guarantee: 'for any order of commits, positions in the feed have no gaps and respect causality',
    files: ['server/test/events/interleavings.test.ts'],
    unit: 'orders',
    sizes: { FEED_INTERLEAVINGS: { from: 60, to: 2000 } },
    count: ({ size }) => size('FEED_INTERLEAVINGS'),
  },
  {
    name: 'webhook-chaos',
    guarantee: 'webhooks reach 100 endpoints in order, 30 of them faulty, while workers are killed',
    files: [program('webhook-chaos')],
    unit: 'deliveries',
    sizes: {
      CHAOS_EVENTS: { from: 600, to: 20_000 },
      CHAOS_KILLS: { from: 3, to: 20 },
      CHAOS_RATE: { from: 50, to: 50 },
    },
    count: 'printed',
    share: 2,
  },
  {
    name: 'kill-workers',
    guarantee: 'a worker killed at any step of a delivery loses no event, and the next one continues in order',
    files: ['server/test/webhooks/deliver/delivery-crash.slow.test.ts'],
    unit: 'kills',
    sizes: { DELIVERY_CRASH_ROUNDS: { from: 1, to: 20 } },
    count: 'printed',
  },
  {
    name: 'kill-imports',
    guarantee: 'an import continues after a kill without duplicates or losses',
    files: [program('import-kill')],
    testNames: ['an import continues'],
    unit: 'kills',
    count: ({ passed }) => 2 * passed,
  },
  {
    name: 'models',
    guarantee: 'deliveries keep their order after any failure; a batch of callbacks has the same result as one by one',
    files: ['server/test/webhooks/deliver/model.test.ts', 'server/test/inbox/receive/batch-model.test.ts'],
    unit: 'histories',
    sizes: { MODEL_RUNS: { from: 20, to: 250 } },
    count: 'printed',
    share: 2,
  },
  {
    name: 'limits',
    guarantee: 'a rate limit holds across two processes, and a quota is exact under concurrent requests',
    files: [program('availability/two-nodes-limits')],
    unit: 'storms',
    sizes: { LIMIT_STORMS: { from: 3, to: 200 } },
    count: 'printed',
  },
  {
    name: 'merge-races',
    guarantee: 'a merge of leads, or its undo, concurrent with other changes loses nothing',
    files: ['server/test/leads/merge/merge-races.slow.test.ts'],
    unit: 'races',
    sizes: { MERGE_RACES: { from: 2, to: 20 } },
    count: ({ size, passed }) => 2 * passed * size('MERGE_RACES'),
  },
  {
    name: 'waits',
    guarantee: 'an agent waiting on either of two nodes receives all of its work exactly once',
    files: ['server/test/agents/wait-property.slow.test.ts'],
    unit: 'worlds',
    sizes: { WAIT_ROUNDS: { from: 4, to: 50 } },
    count: ({ size }) => size('WAIT_ROUNDS'),
  },
  {
    name: 'mask',
    guarantee: 'a masked key cannot distinguish workspaces that differ only in hidden digits',
    files: ['server/test/auth/api-keys/mask-boundary.test.ts'],
    testNames: ['no sequence of calls'],
    unit: 'calls in pairs',
    sizes: { MASK_WORLDS: { from: 5, to: 50 }, MASK_CALLS: { from: 200, to: 200 } },
    seed: 'MASK_SEED',
    count: ({ size }) => size('MASK_WORLDS') * size('MASK_CALLS'),
  },
  {
    name: 'media-interleavings',
    guarantee: 'for any order of fetches, sweeps, erasures and nightly jobs, no row refers to a missing file',
    files: ['server/test/inbox/media/interleavings.test.ts'],
    unit: 'orders',
    sizes: { MEDIA_INTERLEAVINGS: { from: 20, to: 500 } },
    count: ({ size }) => size('MEDIA_INTERLEAVINGS'),
  },
  {
    name: 'media-memory',
    guarantee: 'memory grows by at most 16 MB while 20 files are fetched, read and uploaded',
    files: [program('media-memory')],
    unit: 'cases',
    sizes: { MEDIA_MEGABYTES: { from: 100, to: 100 } },
    count: 'cases',
  },
  {
    name: 'rotation',
    guarantee: 'no search or lookup misses a result while a process that is killed rotates all keys',
    files: ['server/test/key-rotation/under-load.slow.test.ts'],
    unit: 'searches',
    sizes: { ROTATION_SEARCHES: { from: 200, to: 10_000 } },
    count: ({ size }) => size('ROTATION_SEARCHES'),
    share: 2,
  },
  {
    name: 'fuzz',
    guarantee: 'every operation answers any input of any caller as its contract says, and never with 500',
    files: ['server/test/faults/fuzz.test.ts'],
    unit: 'requests',
    sizes: { FUZZ_ROUNDS: { from: 1, to: 60 } },
    seed: 'FUZZ_SEED',
    count: 'printed',
    share: 3,
  },
  {
    name: 'tenants',
    guarantee: 'no operation reveals or changes data of another workspace, whatever ids it is given',
    files: ['server/test/faults/tenants.test.ts'],
    unit: 'requests',
    sizes: { TENANT_ROUNDS: { from: 1, to: 40 } },
    seed: 'TENANT_SEED',
    count: 'printed',
    share: 2,
  },
  {
    name: 'plaintext',
    guarantee: 'data written by any operation appears in no table, file or log as plaintext',
    files: ['server/test/faults/plaintext.test.ts', program('dump')],
    unit: 'requests',
    sizes: { PLAINTEXT_ROUNDS: { from: 1, to: 30 } },
    seed: 'PLAINTEXT_SEED',
    count: 'printed',
  },
  {
    name: 'storage',
    guarantee:
      'a full, read-only, failing or missing disk loses nothing acknowledged, and the service recovers after the repair',
    files: [
      'server/test/faults/storage.slow.test.ts',
      'server/test/faults/files.slow.test.ts',
      'server/test/media/folder-store.test.ts',
    ],
    unit: 'disk faults',
    sizes: { STORAGE_ROUNDS: { from: 1, to: 10 }, FILE_ROUNDS: { from: 1, to: 10 } },
    count: 'printed',
  },
  {
    name: 'clocks',
    guarantee: 'nodes whose clocks differ by 20 minutes share limits, sessions, keys and the order of the feed',
    files: ['server/test/faults/clocks.slow.test.ts'],
    unit: 'rounds',
    sizes: { CLOCK_ROUNDS: { from: 1, to: 50 } },
    count: ({ size }) => size('CLOCK_ROUNDS'),
  },
  ...[10, -10].map(
    (minutes): FaultTest => ({
      name: minutes > 0 ? 'clock-ahead' : 'clock-behind',
      guarantee: `sends, takeovers and callbacks on two nodes work while one clock is ${Math.abs(minutes)} min off`,
      files: [program('two-nodes'), program('two-nodes-webhooks')],
      unit: 'keys and races',
      sizes: {
        CLOCK_AHEAD_MINUTES: { from: minutes, to: minutes },
        IDEMPOTENCY_KEYS: { from: 40, to: 200 },
        TAKEOVER_ROUNDS: { from: 50, to: 1000 },
      },
      count: ({ size }) => size('IDEMPOTENCY_KEYS') + size('TAKEOVER_ROUNDS'),
    }),
  ),
  {
    name: 'ssrf',
    guarantee: 'no address from a user reaches the private network, whatever its DNS and redirects return',
    files: ['server/test/base/outgoing/*.test.ts'],
    unit: 'cases',
    count: 'cases',
  },
  {
    name: 'injection',
    guarantee: 'an agent that obeys any message of a stranger gets no access beyond the permissions of its key',
    files: ['server/test/agents/injection/injection.slow.test.ts'],
    unit: 'cases',
    count: 'cases',
  },
  {
    name: 'backup',
    guarantee: 'a backup made under load restores completely; a move and an upgrade lose nothing',
    files: ['server/test/program/backup/*.test.ts'],
    unit: 'cases',
    count: 'cases',
  },
  {
    name: 'deploy',
    guarantee:
      'from Debian and npm packages alone, the Dockerfile builds a working image and the units run a working service',
    files: ['server/test/deploy/image.slow.test.ts'],
    unit: 'cases',
    sizes: { DEPLOY_TEST: { from: 1, to: 1 } },
    count: 'cases',
    minTimeoutSeconds: 3600,
  },
]
