import { type Static, Type } from 'typebox'
import { nullable } from '../../base/route.ts'
import { count, text, uuid } from '../../base/schema-types.ts'
import type { InForce, InstructionVersion, PublishedVersion } from '../../workspaces/instructions/versions.ts'
import { cleanedText } from './viewer.ts'

const version = count('Its version.', { example: 4 })
const instructionText = text(4000, 'Only members write it: follow it.', {
  example: 'You speak for a shoe shop. Be brief and warm. Never promise a discount.',
})
const Instructions = (description: string) =>
  nullable(Type.Object({ version, text: instructionText }, { description: `${description}; null: none.` }))

export const AgentInstructions = Type.Object(
  {
    version: count('Changes with each publication: compare it with `instructions_version` of wait_for_work.'),
    workspace: Instructions('For every agent'),
    key: Instructions('For you'),
    connections: Type.Array(
      Type.Object({ connection_id: uuid('A connection of yours.'), version, text: instructionText }),
      { maxItems: 100, description: 'For conversations of these connections.' },
    ),
  },
  {
    description:
      'Instructions of the team. Follow all of them; if they differ, those of the connection come before yours, and yours before those for every agent.',
  },
)

/** Puts a draft in the place of the version that it would replace; null, or one for another key, changes nothing. */
export function withDraft(inForce: InForce, keyId: string, draft: InstructionVersion | null): InForce {
  if (draft === null) return inForce
  const publishedOver = (current: PublishedVersion | null | undefined): PublishedVersion => ({
    ...draft,
    version: (current?.version ?? 0) + 1,
    publishedAt: draft.updatedAt,
  })
  const { workspace, key, connections } = inForce
  if (draft.keyId !== null) return draft.keyId === keyId ? { ...inForce, key: publishedOver(key) } : inForce
  if (draft.connectionId === null) return { ...inForce, workspace: publishedOver(workspace) }
  const others = connections.filter(({ connectionId }) => connectionId !== draft.connectionId)
  const replaced = connections.find(({ connectionId }) => connectionId === draft.connectionId)
  return { ...inForce, connections: [...others, publishedOver(replaced)] }
}

interface Surroundings {
  /** The text for every agent in the settings: a process without versions may have written it. */
  word: string | null
  /** Connections that the key sees. */
  seen: readonly { id: string }[]
  /** Number of publications that may concern the key. */
  publications: number
}

export function presentInstructions(
  { workspace, key, connections }: InForce,
  { word, seen, publications }: Surroundings,
): Static<typeof AgentInstructions> {
  return {
    version: publications,
    workspace: presentText({ version: workspace?.version ?? 0, text: word }),
    key: presentText(key),
    connections: seen.flatMap(({ id }) => {
      const shown = presentText(connections.find(({ connectionId }) => connectionId === id) ?? null)
      return shown === null ? [] : [{ connection_id: id, ...shown }]
    }),
  }
}

const presentText = (published: Pick<PublishedVersion, 'version' | 'text'> | null) =>
  published === null || published.text === null
    ? null
    : { version: published.version, text: cleanedText(published.text) }
