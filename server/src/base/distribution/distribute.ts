import { allowTime, type Db, type Tx } from '../db.ts'
import { lockMigrations } from '../migrate.ts'
import type { Step } from './plan.ts'
import { readPlan, takeStep } from './turn.ts'

/** A copy of a hundred million rows takes hours. */
const stepMs = 86_400_000

/**
 * Does what is still to be done, each step a transaction, and says of each how many follow. Several may do so at once, and who is killed
 * leaves what the next one goes on with.
 */
export async function distribute(db: Db, onStep: (step: Step, left: number) => void): Promise<void> {
  while (await db.tx((tx) => takeNext(tx, onStep)));
}

/** False when all is done. */
async function takeNext(tx: Tx, onStep: (step: Step, left: number) => void): Promise<boolean> {
  await allowTime(tx, stepMs)
  await tx`set local lock_timeout = 0`
  await lockMigrations(tx)
  const [step, ...rest] = await readPlan(tx)
  if (step === undefined) return false
  onStep(step, rest.length)
  await takeStep(tx, step)
  return true
}
