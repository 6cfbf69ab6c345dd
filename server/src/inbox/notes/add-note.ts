import { type Tx, violates } from '../../base/db.ts'
import { invalid } from '../../base/errors.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { Actor } from '../../workspace/actor.ts'
import { findNonMembers } from '../../workspace/workspace.ts'
import { touched } from '../conversation/change.ts'
import { commitChange } from '../conversation/commit-change.ts'
import type { InboxDeps, Scope } from '../conversation/conversation.ts'
import { conversationNotFound, noteKeyUsedOtherwise } from '../conversation/errors.ts'
import { lockConversation } from '../conversation/queries.ts'
import { addNote, findNoteByKey } from './notes.ts'

export interface NewNote {
  conversationId: string
  text: string
  /** Members who are to see it. */
  mentions: readonly string[]
  /** Under one key its author adds one note, however often it is tried. */
  key: string | null
}

/**
 * Adds a note; returns whether it was there already. Throws 404 outside the scope, 400 for strangers among the mentions,
 * 422 when the key stands for another note.
 */
export async function addTeamNote(
  deps: Pick<InboxDeps, 'db' | 'vault' | 'clock'>,
  scope: Scope,
  actor: Actor,
  note: NewNote,
): Promise<{ isRepeat: boolean }> {
  return deps.vault.withKeyring(scope.workspaceId, async (keyring) => {
    const add = () => deps.db.tx((tx) => addOnce(tx, keyring, scope, actor, note, deps.clock.now()))
    try {
      return await add()
    } catch (error) {
      // The same key in another conversation, in the same moment: by now it is there to be seen.
      if (violates(error, 'conversation_notes_key')) return add()
      throw error
    }
  })
}

async function addOnce(
  tx: Tx,
  keyring: Keyring,
  scope: Scope,
  actor: Actor,
  { conversationId, text, mentions, key }: NewNote,
  now: Date,
): Promise<{ isRepeat: boolean }> {
  const { workspaceId } = scope
  const before = await lockConversation(tx, keyring, scope, conversationId)
  if (before === undefined) throw conversationNotFound()
  const earlier = key === null ? undefined : await findNoteByKey(tx, keyring, workspaceId, actor.id, key)
  if (earlier !== undefined) {
    const isSame =
      earlier.conversationId === before.id && earlier.text === text && isSameSet(earlier.mentions, mentions)
    if (!isSame) throw noteKeyUsedOtherwise()
    return { isRepeat: true }
  }
  const seenBy = await checkMentions(tx, workspaceId, mentions)
  await addNote(tx, keyring, workspaceId, before.id, { text, mentions: seenBy, actor, key }, now)
  // A note is part of the conversation that the team sees.
  const change = { conversation: touched(before, now), events: [] }
  await commitChange(tx, keyring, workspaceId, before, change, { actor, reason: null }, now)
  return { isRepeat: false }
}

const isSameSet = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === new Set(b).size && a.every((one) => b.includes(one))

async function checkMentions(tx: Tx, workspaceId: string, userIds: readonly string[]): Promise<string[]> {
  const wanted = [...new Set(userIds)]
  const nonMembers = await findNonMembers(tx, workspaceId, wanted)
  if (nonMembers.length > 0) throw invalid('mentions', 'must be members of the workspace')
  return wanted
}
