import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/db.ts'
import { createMemoryLimiter, type Limiter } from './limiter.ts'
import { createPostgresLimiter } from './rate-limit-postgres.ts'
import type { RedisLimiterOptions } from './rate-limit-redis.ts'

export interface LimiterOptions {
  redisUrl: string | null
  /** Whether other nodes may share the database, as with an external one. */
  sharedDatabase: boolean
  db: Db
  clock: Clock
  log: RedisLimiterOptions['log']
}

/** Creates the limiter: on Redis if configured, else on a shared database, else in memory for a single node. */
export async function openLimiter({ redisUrl, sharedDatabase, db, clock, log }: LimiterOptions): Promise<Limiter> {
  if (redisUrl !== null) {
    // Loaded on demand: it consists of hundreds of files.
    const { createRedisLimiter } = await import('./rate-limit-redis.ts')
    return createRedisLimiter({ url: redisUrl, clock, log })
  }
  return sharedDatabase ? createPostgresLimiter({ db }) : createMemoryLimiter(clock)
}
