import type { Db } from '../../../server/src/base/db.ts'
import { fillInboxBaseline, makeInboxBaseline } from '../../baselines/inbox-baseline-tables.ts'
import type { Child } from '../../child.ts'
import type { Comparison } from '../../comparison.ts'
import { type Filling, fillMessages } from '../../fill.ts'
import { fillingOf, type SeededConnection, seedConnection } from '../../inbox-seed.ts'
import type { BenchWorkspace } from '../../workspace.ts'
import { feeds } from './feed.ts'
import { conversationsEach, intakes } from './intake.ts'
import { lists } from './lists.ts'
import { type SlowPlatform, sends } from './sends.ts'
import { statusContests } from './statuses.ts'

// A number sends at most 70 messages a second; many numbers keep this limit from dominating the measurement.
const connectionCount = 64
const messagesEach = 60
const slowMs = 200
const slowConversationsEach = 30

/** Fills the workspace with conversations and returns the contests of the inbox. */
export async function inboxContests(
  db: Db,
  workspace: BenchWorkspace,
  platformPort: number,
  start: (delayMs: number) => Promise<{ platform: Child; baseline: Child }>,
): Promise<Comparison[]> {
  const filling = await fillingOf(db, workspace)
  const connections: SeededConnection[] = []
  for (let n = 0; n < connectionCount; n++) {
    connections.push(await seedConnection(filling, workspace, platformPort, conversationsEach))
  }
  const slow = await slowPlatform(filling, workspace, await start(slowMs))
  const readable = connections.flatMap(({ conversations }) => conversations.slice(0, 4))
  for (const { id, conversations } of connections) {
    await fillMessages(filling, id, conversations.slice(0, 4), messagesEach)
  }
  await makeInboxBaseline(db)
  await fillInboxBaseline(db, connectionCount * conversationsEach, readable.length, messagesEach)
  const { key } = workspace
  const feedContests = await feeds(db, filling, key)
  await db.sql`vacuum analyze`
  return [
    ...intakes(db, connections),
    ...statusContests(filling, connections),
    ...lists(key, readable),
    ...feedContests,
    ...sends(db, key, connections, slow),
  ]
}

async function slowPlatform(
  filling: Filling,
  workspace: BenchWorkspace,
  { platform, baseline }: { platform: Child; baseline: Child },
): Promise<SlowPlatform> {
  const connections: SeededConnection[] = []
  for (let n = 0; n < connectionCount; n++) {
    connections.push(await seedConnection(filling, workspace, platform.port, slowConversationsEach))
  }
  return { delayMs: slowMs, connections, baseline }
}
