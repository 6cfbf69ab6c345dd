import { commitBehind, type Tx } from '../../base/db.ts'
import { recordEvents } from '../../events/record.ts'
import { systemActor } from '../../workspace/actor.ts'
import { recordActivities } from '../conversation/commit-change.ts'
import { insertConversations, type Stored, storeConversations } from '../conversation/many-queries.ts'
import { addEchoPart, insertMessages } from '../conversation/message-queries.ts'
import { storeConversation } from '../conversation/queries.ts'
import type { IndexOf } from '../conversation/sealed.ts'
import { insertWhatTheyCarry } from '../media/media-queries.ts'
import type { Draft } from './draft.ts'
import type { Intake, WorkspaceIntake } from './receiver.ts'

/** Writes drafts at once, with the commit behind them: none changes what a change of owner would have to wait for. */
export async function storeDrafts(
  tx: Tx,
  intake: WorkspaceIntake,
  drafts: readonly Draft[],
  indexOf: IndexOf,
): Promise<void> {
  const changed = drafts.filter(isChanged)
  if (changed.length === 0) return
  await commitBehind(tx, () =>
    write(tx, intake, changed, indexOf, (changes) =>
      storeConversations({ tx, keyring: intake.keyring, workspaceId: intake.workspaceId }, changes),
    ),
  )
}

/** Writes one draft, whatever it changes of its conversation. */
export async function storeDraft(tx: Tx, { keyring, receiver, now }: Intake, draft: Draft): Promise<void> {
  if (!isChanged(draft)) return
  const { workspaceId } = receiver
  await write(tx, { keyring, workspaceId, now }, [draft], undefined, async ([change]) => {
    if (change !== undefined) await storeConversation({ tx, keyring, workspaceId }, change.after)
  })
  for (const message of draft.followed) await addEchoPart(tx, keyring, receiver, message)
}

// What was to begin a conversation may turn out to be known, or be left to others.
const isChanged = ({ before, conversation, messages, needsMessage }: Draft): boolean =>
  messages.length > 0 || (before === null ? !needsMessage : before !== conversation)

async function write(
  tx: Tx,
  { keyring, workspaceId, now }: WorkspaceIntake,
  drafts: readonly Draft[],
  indexOf: IndexOf | undefined,
  store: (changes: readonly Stored[]) => Promise<void>,
): Promise<void> {
  const begun = drafts.flatMap(({ before, conversation }) => (before === null ? [conversation] : []))
  const changes = drafts.flatMap(({ before, conversation }) =>
    before === null || before === conversation ? [] : [{ before, after: conversation }],
  )
  const messages = drafts.flatMap((draft) => draft.messages)
  const events = drafts.flatMap((draft) => draft.events)
  await Promise.all([
    insertConversations({ tx, keyring, workspaceId }, begun),
    store(changes),
    insertMessages({ tx, keyring, workspaceId }, messages, indexOf),
    insertWhatTheyCarry({ tx, keyring, workspaceId }, messages),
    recordAll(tx, workspaceId, drafts, now),
    recordEvents(tx, keyring, workspaceId, events, now),
  ])
}

async function recordAll(tx: Tx, workspaceId: string, drafts: readonly Draft[], now: Date): Promise<void> {
  const lines = drafts.flatMap(({ conversation, activities }) =>
    activities.map((activity) => ({ conversationId: conversation.id, ...activity })),
  )
  const byReason = Map.groupBy(lines, ({ reason }) => reason)
  await Promise.all(
    [...byReason].map(([reason, items]) =>
      recordActivities(tx, workspaceId, items, { actor: systemActor, reason }, now),
    ),
  )
}
