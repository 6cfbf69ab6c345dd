import type { Limiter } from '../auth/rate-limit/limiter.ts'
import type { PasswordCost } from '../auth/users/passwords.ts'
import type { Repeat } from '../base/async/loop.ts'
import type { Clock } from '../base/clock.ts'
import type { Db } from '../base/db.ts'
import type { KeyStore } from '../base/encryption/key-store.ts'
import type { Log } from '../base/log.ts'
import type { Outgoing } from '../base/outgoing/guarded-fetch.ts'
import type { Tracer } from '../base/tracing/span.ts'
import type { Connectors } from '../channels/connector.ts'
import type { Config } from '../config.ts'
import type { Sequencer } from '../events/sequence.ts'
import type { Metrics } from '../http/monitoring/metrics.ts'
import type { SendDeps } from '../inbox/send/send-deps.ts'
import type { MemoryIndexes } from '../leads/search/memory-index/client.ts'
import type { MediaStore } from '../media/store/store.ts'

/** What the rooms stand on, opened by whoever runs the app and closed by them after it. */
export interface Runtime {
  config: Config
  log: Log
  clock: Clock
  /** What people's sessions go by where the simulator moves `clock`; else the same. */
  wallClock?: Clock
  db: Db
  keyStore: KeyStore
  limiter: Limiter
  metrics: Metrics
  /** Begins traces, where an operator wants them. */
  tracer?: Tracer | undefined
  sequencer: Sequencer
  /** The way to addresses that users gave. */
  outgoing: Outgoing
  /** Where files are, sealed. */
  media: MediaStore
  /** Lists of large workspaces from memory; without it the database answers them. */
  memoryIndexes?: MemoryIndexes
  /** The way out to each channel; the real ones unless given. */
  connectors?: Connectors
  /** How fast a number is written from; as its platform wants it unless given. */
  sendRatesOf?: SendDeps['sendRatesOf']
  /** Where the master key is kept, unless the settings give it. */
  masterKeyFile?: string | null
  /** What a hash of a password costs to make; the safe cost unless given. */
  passwordCost?: PasswordCost
  /** How work that comes again and again is repeated; at pauses unless given. */
  repeat?: Repeat
  /** Lets the command line in as an operator, beside the token of the settings, for as long as this process runs. */
  localToken?: string
}
