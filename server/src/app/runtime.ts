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
import type { Mailer } from '../mail/mailer.ts'
import type { MediaStore } from '../media/store/store.ts'

/** Infrastructure of the modules, opened and closed by the process that runs the app. */
export interface Runtime {
  config: Config
  log: Log
  clock: Clock
  /** Clock for people's sessions, if the simulator moves `clock`; default `clock`. */
  wallClock?: Clock
  db: Db
  keyStore: KeyStore
  limiter: Limiter
  metrics: Metrics
  /** Creates traces, if configured. */
  tracer?: Tracer | undefined
  sequencer: Sequencer
  /** HTTP client for addresses from users. */
  outgoing: Outgoing
  /** Sends mail; null or missing if no mail server is set up. */
  mailer?: Mailer | null
  /** Store of encrypted files. */
  media: MediaStore
  /** Lists large workspaces from memory; without it the database does. */
  memoryIndexes?: MemoryIndexes
  /** Connectors by channel; default: the real ones. */
  connectors?: Connectors
  /** Send rate of a number; default: that of its platform. */
  sendRatesOf?: SendDeps['sendRatesOf']
  /** File of the master key; null if it is in the settings. */
  masterKeyFile?: string | null
  /** Cost of a password hash; default: a secure one. */
  passwordCost?: PasswordCost
  /** Repeats recurring work; default: after a pause. */
  repeat?: Repeat
  /** Token that makes the command line an operator, in addition to the configured one, while this process runs. */
  localToken?: string
}
