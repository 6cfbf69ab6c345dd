import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/db.ts'
import { createMemoryLimiter, type Limiter } from './limiter.ts'
import { createPostgresLimiter } from './rate-limit-postgres.ts'
import type { RedisLimiterOptions } from './rate-limit-redis.ts'

export interface LimiterOptions {
  redisUrl: string | null
  /** Whether other nodes may share the database, as they may an external one. */
  sharedDatabase: boolean
  db: Db
  clock: Clock
  log: RedisLimiterOptions['log']
}

/** The store that fits: Redis where there is one, else the shared database, else the memory of the only node. */
export async function openLimiter({ redisUrl, sharedDatabase, db, clock, log }: LimiterOptions): Promise<Limiter> {
  if (redisUrl !== null) {
    // Hundreds of files, which a start without Redis does without.
    const { createRedisLimiter } = await import('./rate-limit-redis.ts')
    return createRedisLimiter({ url: redisUrl, clock, log })
  }
  return sharedDatabase ? createPostgresLimiter({ db }) : createMemoryLimiter(clock)
}
