/** A promise, and the tests that try to break it. */
export interface Trial {
  name: string
  /** What holds, whatever is done to it. */
  promise: string
  /** Test files, from the root. */
  files: string[]
  /** Parts of the names of those tests that belong to it; all of the files' when there are none. */
  named?: string[]
  /** What is counted. */
  unit: string
  /** Variables that make a run longer: what the first run has, and what no run goes beyond. */
  sizes?: Record<string, Size>
  /** The variable that takes a number from which a run makes its chances, so that it can be repeated. */
  seed?: string
  /**
   * How many of the unit a run is. `told` where its tests say it by lines such as `12 kills`; `cases` where it is the same every
   * time: such a trial runs once, counts its tests, and says nothing of a rate.
   */
  count: ((run: { size: (variable: string) => number; passed: number }) => number) | 'told' | 'cases'
  /** Of the time, beside the others' 1. */
  share?: number
  /** How long a run may take at least before it counts as one that hangs; else half an hour. */
  patienceSeconds?: number
}

export interface Size {
  from: number
  to: number
}

const program = (name: string) => `server/test/program/${name}.slow.test.ts`

/** In the order in which they run; all of them by `npm run faults`. */
export const trials: readonly Trial[] = [
  {
    name: 'kill-service',
    promise: 'no acknowledged write of a lead is lost, nor its event, when service or database are killed',
    files: [program('kill-writes')],
    unit: 'kills',
    sizes: { KILL_ROUNDS: { from: 9, to: 102 } },
    count: ({ size }) => size('KILL_ROUNDS'),
    share: 2,
  },
  {
    name: 'kill-database',
    promise: 'the embedded database comes back by itself with all that it has acknowledged',
    files: ['server/test/base/embedded/kill.slow.test.ts'],
    named: ['no acknowledged write is lost'],
    unit: 'kills',
    sizes: { KILL_ROUNDS: { from: 9, to: 102 } },
    count: ({ size }) => size('KILL_ROUNDS'),
  },
  {
    name: 'kill-pool',
    promise: 'a busy pool survives kills of its database: nothing hangs, no connection is lost',
    files: ['server/test/base/postgres/driver.slow.test.ts'],
    named: ['a busy pool survives'],
    unit: 'kills',
    sizes: { KILL_ROUNDS: { from: 4, to: 102 } },
    count: ({ size }) => size('KILL_ROUNDS'),
  },
  {
    name: 'cut-connection',
    promise: 'a connection to the database may end at any byte',
    files: ['server/test/base/postgres/driver.test.ts'],
    named: ['a connection that ends at any byte'],
    unit: 'cuts',
    sizes: { CUT_STEP: { from: 1, to: 1 } },
    count: 'cases',
  },
  {
    name: 'database-away',
    promise: 'while the database is away every operation answers within 20 s, none with 500, and all goes on by itself',
    files: [program('availability/database-away'), program('availability/writes-hang')],
    unit: 'outages',
    count: ({ passed }) => passed,
  },
  {
    name: 'failover',
    promise: 'a primary that is killed, stopped or frozen costs no acknowledged write and no 500',
    files: [program('primary-moves')],
    unit: 'moves',
    sizes: { FAILOVER_ROUNDS: { from: 1, to: 5 } },
    count: ({ size }) => 3 * size('FAILOVER_ROUNDS'),
    share: 2,
  },
  {
    name: 'rolling-restart',
    promise: 'every process is restarted under load, one after the other, and no request fails',
    files: [program('availability/rolling-restart')],
    unit: 'requests',
    count: 'told',
  },
  {
    name: 'kill-sends',
    promise: 'a process that dies at any step of a send sends nothing twice, and each key ends in one answer',
    files: ['server/test/inbox/send/send-crash.slow.test.ts'],
    unit: 'kills',
    sizes: { SEND_CRASH_ROUNDS: { from: 3, to: 20 } },
    count: 'told',
  },
  {
    name: 'kill-senders',
    promise: 'of a process that dies amid many sends the other one ends every message, and sends no key twice',
    files: [program('two-nodes')],
    named: ['a process killed amid sends'],
    unit: 'kills',
    sizes: { KILL_ROUNDS: { from: 2, to: 102 } },
    count: ({ size }) => size('KILL_ROUNDS'),
  },
  {
    name: 'same-key',
    promise: 'a key that is sent 50 times at once over two nodes is one send and one answer',
    files: ['server/test/inbox/send/send-idempotency.test.ts', program('two-nodes')],
    named: ['50 times at once', '50 parallel requests'],
    unit: 'keys',
    sizes: { IDEMPOTENCY_KEYS: { from: 40, to: 200 } },
    count: ({ size }) => 2 * size('IDEMPOTENCY_KEYS'),
  },
  {
    name: 'takeover-races',
    promise: 'no send of the old owner starts once a takeover has been answered, on whichever node',
    files: ['server/test/inbox/send/takeover-races.slow.test.ts', program('two-nodes')],
    named: ['no send of the old owner', 'no send starts once'],
    unit: 'races',
    sizes: { TAKEOVER_ROUNDS: { from: 150, to: 1000 } },
    count: ({ size }) => 2 * size('TAKEOVER_ROUNDS'),
  },
  {
    name: 'kill-sessions',
    promise: "a linked phone's messages are neither lost nor doubled while its holders are killed and stalled",
    files: [program('session-takeover')],
    unit: 'ends',
    sizes: { TAKEOVER_KILLS: { from: 2, to: 10 } },
    count: ({ size }) => 2 * size('TAKEOVER_KILLS'),
  },
  {
    name: 'inbound-storm',
    promise: 'whatever order callbacks come in, over two nodes: every status by the ladder, every message once',
    files: [program('two-nodes-webhooks')],
    unit: 'items',
    sizes: { WEBHOOK_ITEMS: { from: 2000, to: 21_000 } },
    count: ({ size }) => size('WEBHOOK_ITEMS'),
  },
  {
    name: 'feed',
    promise: 'a reader of the feed misses nothing while writers commit, roll back and are killed',
    files: ['server/test/events/order.test.ts'],
    unit: 'events',
    sizes: { FEED_EVENTS: { from: 1000, to: 50_000 } },
    count: ({ size }) => 2 * size('FEED_EVENTS'),
  },
  {
    name: 'feed-interleavings',
    promise:
      'whatever the order of commits, places in the feed have no gaps, and follow what a transaction can have known',
    files: ['server/test/events/interleavings.test.ts'],
    unit: 'orders',
    sizes: { FEED_INTERLEAVINGS: { from: 60, to: 2000 } },
    count: ({ size }) => size('FEED_INTERLEAVINGS'),
  },
  {
    name: 'webhook-chaos',
    promise: 'webhooks reach 100 endpoints in order, 30 of them faulty, while workers die',
    files: [program('webhook-chaos')],
    unit: 'deliveries',
    sizes: {
      CHAOS_EVENTS: { from: 600, to: 20_000 },
      CHAOS_KILLS: { from: 3, to: 20 },
      CHAOS_RATE: { from: 50, to: 50 },
    },
    count: 'told',
    share: 2,
  },
  {
    name: 'kill-workers',
    promise: 'a worker that dies at any step of a delivery loses no event, and the next one goes on in order',
    files: ['server/test/webhooks/deliver/delivery-crash.slow.test.ts'],
    unit: 'kills',
    sizes: { DELIVERY_CRASH_ROUNDS: { from: 1, to: 20 } },
    count: 'told',
  },
  {
    name: 'kill-imports',
    promise: 'an import goes on after a kill with nothing twice and nothing lost',
    files: [program('import-kill')],
    named: ['an import continues'],
    unit: 'kills',
    count: ({ passed }) => 2 * passed,
  },
  {
    name: 'models',
    promise: 'deliveries that fail in any way keep their order; callbacks that go together are as one after the other',
    files: ['server/test/webhooks/deliver/model.test.ts', 'server/test/inbox/receive/batch-model.test.ts'],
    unit: 'histories',
    sizes: { MODEL_RUNS: { from: 20, to: 250 } },
    count: 'told',
    share: 2,
  },
  {
    name: 'limits',
    promise: 'a rate limit holds over two processes, and a quota is exact to the last lead, whoever asks at once',
    files: [program('availability/two-nodes-limits')],
    unit: 'storms',
    sizes: { LIMIT_STORMS: { from: 3, to: 200 } },
    count: 'told',
  },
  {
    name: 'merge-races',
    promise: 'a merge of leads or its undo, and whatever else is done to them at once, lose nothing',
    files: ['server/test/leads/merge/merge-races.slow.test.ts'],
    unit: 'races',
    sizes: { MERGE_RACES: { from: 2, to: 20 } },
    count: ({ size, passed }) => 2 * passed * size('MERGE_RACES'),
  },
  {
    name: 'waits',
    promise: 'an agent that waits on one of two nodes is told of all that is its own, and nothing twice',
    files: ['server/test/agents/wait-property.slow.test.ts'],
    unit: 'worlds',
    sizes: { WAIT_ROUNDS: { from: 4, to: 50 } },
    count: ({ size }) => size('WAIT_ROUNDS'),
  },
  {
    name: 'mask',
    promise: 'a masked key cannot tell workspaces apart that differ in hidden digits alone',
    files: ['server/test/auth/api-keys/mask-boundary.test.ts'],
    named: ['no sequence of calls'],
    unit: 'calls in pairs',
    sizes: { MASK_WORLDS: { from: 5, to: 50 }, MASK_CALLS: { from: 200, to: 200 } },
    seed: 'MASK_SEED',
    count: ({ size }) => size('MASK_WORLDS') * size('MASK_CALLS'),
  },
  {
    name: 'media-interleavings',
    promise: 'whatever the order of fetches, sweeps, erasures and nights, no row names a file that is not there',
    files: ['server/test/inbox/media/interleavings.test.ts'],
    unit: 'orders',
    sizes: { MEDIA_INTERLEAVINGS: { from: 20, to: 500 } },
    count: ({ size }) => size('MEDIA_INTERLEAVINGS'),
  },
  {
    name: 'media-memory',
    promise: 'memory grows by 16 MB at most while 20 files are fetched, read and taken in',
    files: [program('media-memory')],
    unit: 'cases',
    sizes: { MEDIA_MEGABYTES: { from: 100, to: 100 } },
    count: 'cases',
  },
  {
    name: 'rotation',
    promise: 'no search or look-up misses while all keys are rotated by a process that is killed',
    files: ['server/test/key-rotation/under-load.slow.test.ts'],
    unit: 'searches',
    sizes: { ROTATION_SEARCHES: { from: 200, to: 10_000 } },
    count: ({ size }) => size('ROTATION_SEARCHES'),
    share: 2,
  },
  {
    name: 'fuzz',
    promise: 'every operation answers whatever it is asked, by whomever, as its contract says, and never with 500',
    files: ['server/test/faults/fuzz.test.ts'],
    unit: 'requests',
    sizes: { FUZZ_ROUNDS: { from: 1, to: 60 } },
    seed: 'FUZZ_SEED',
    count: 'told',
    share: 3,
  },
  {
    name: 'tenants',
    promise: 'no operation tells or changes a byte of another workspace, whatever ids of it are given',
    files: ['server/test/faults/tenants.test.ts'],
    unit: 'requests',
    sizes: { TENANT_ROUNDS: { from: 1, to: 40 } },
    seed: 'TENANT_SEED',
    count: 'told',
    share: 2,
  },
  {
    name: 'plaintext',
    promise: 'what is written through whatever operation stands in no table, file and log as it was written',
    files: ['server/test/faults/plaintext.test.ts', program('dump')],
    unit: 'requests',
    sizes: { PLAINTEXT_ROUNDS: { from: 1, to: 30 } },
    seed: 'PLAINTEXT_SEED',
    count: 'told',
  },
  {
    name: 'storage',
    promise:
      'a disk that is full, may only be read, fails or has gone loses nothing acknowledged, and all goes on once it is mended',
    files: [
      'server/test/faults/storage.slow.test.ts',
      'server/test/faults/files.slow.test.ts',
      'server/test/media/folder-store.test.ts',
    ],
    unit: 'spells',
    sizes: { STORAGE_ROUNDS: { from: 1, to: 10 }, FILE_ROUNDS: { from: 1, to: 10 } },
    count: 'told',
  },
  {
    name: 'clocks',
    promise: 'nodes whose clocks differ by 20 minutes share limits, sessions, keys and the order of the feed',
    files: ['server/test/faults/clocks.slow.test.ts'],
    unit: 'rounds',
    sizes: { CLOCK_ROUNDS: { from: 1, to: 50 } },
    count: ({ size }) => size('CLOCK_ROUNDS'),
  },
  ...[10, -10].map(
    (minutes): Trial => ({
      name: minutes > 0 ? 'clock-ahead' : 'clock-behind',
      promise: `sends, takeovers and callbacks over two nodes are as ever while the clock of one is ${Math.abs(minutes)} min off`,
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
    promise: 'no address that a user gives leads into the own network, whatever names and redirects say',
    files: ['server/test/base/outgoing/*.test.ts'],
    unit: 'cases',
    count: 'cases',
  },
  {
    name: 'injection',
    promise: 'an agent that obeys whatever strangers write gets nothing beyond the rights of its key',
    files: ['server/test/agents/injection/injection.slow.test.ts'],
    unit: 'cases',
    count: 'cases',
  },
  {
    name: 'backup',
    promise: 'a backup made under load restores whole, a move and an upgrade lose nothing',
    files: ['server/test/program/backup/*.test.ts'],
    unit: 'cases',
    count: 'cases',
  },
  {
    name: 'deploy',
    promise:
      "of nothing but Debian's packages and npm's, the Dockerfile makes an image that serves, and the units a service",
    files: ['server/test/deploy/image.slow.test.ts'],
    unit: 'cases',
    sizes: { DEPLOY_TEST: { from: 1, to: 1 } },
    count: 'cases',
    patienceSeconds: 3600,
  },
]
