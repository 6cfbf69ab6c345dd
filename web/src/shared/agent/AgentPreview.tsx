import { Select, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { ApiKey } from '../../data/keys.ts'
import { usePreview } from '../../data/team/instructions.ts'
import { t } from '../../text/index.ts'
import { CodeBlock } from '../../ui/CodeBlock.tsx'
import { formatNumber } from '../../ui/format/time.ts'
import { Dialog } from '../../ui/overlay/Dialog.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './AgentPreview.module.css'

interface AgentPreviewProps {
  /** Agents to choose from. */
  keys: readonly ApiKey[]
  /** Null: what they receive now. */
  draftId: string | null
  close(): void
}

/** What an agent receives: its instructions as text, its tools, and the answers as they are. */
export function AgentPreview({ keys, draftId, close }: AgentPreviewProps) {
  const texts = t.instructions
  const [keyId, setKeyId] = useState(keys[0]?.id ?? null)
  return (
    <Dialog title={draftId === null ? texts.receives : texts.wouldReceive} close={close} size="xl">
      {keyId === null ? (
        <Text>{texts.nobody}</Text>
      ) : (
        <Stack gap="md">
          {keys.length > 1 && (
            <Select
              label={texts.agent}
              data={keys.map(({ id, name }) => ({ value: id, label: name }))}
              value={keyId}
              onChange={(chosen) => setKeyId(chosen ?? keyId)}
              allowDeselect={false}
              searchable
              openOnFocus={false}
            />
          )}
          <Received key={keyId} keyId={keyId} draftId={draftId} />
        </Stack>
      )}
    </Dialog>
  )
}

interface Told {
  version: number
  text: string
}

/** Parts of the answer of who_am_i that are shown apart. */
interface WhoAmI {
  instructions: { workspace: Told | null; key: Told | null; connections: (Told & { connection_id: string })[] }
  connections: { id: string; name: string }[]
}

function Received({ keyId, draftId }: { keyId: string; draftId: string | null }) {
  const texts = t.instructions
  const query = usePreview(useWorkspaceId(), keyId, draftId)
  return (
    <QueryBoundary query={query}>
      {({ whoAmI, tools }) => {
        const { instructions, connections } = whoAmI as unknown as WhoAmI
        const nameOf = (id: string) => connections.find((one) => one.id === id)?.name ?? t.common.unknown
        const told: [title: string, told: Told | null][] = [
          [texts.everyAgent, instructions.workspace],
          [texts.thisAgent, instructions.key],
          ...instructions.connections.map((one): [string, Told] => [nameOf(one.connection_id), one]),
        ]
        return (
          <>
            {told.map(([title, one]) => (
              <div key={title}>
                <h3 className={styles.title}>
                  {title} {one !== null && <small>{texts.version({ n: formatNumber(one.version) })}</small>}
                </h3>
                <p className={styles.text} dir="auto">
                  {one?.text ?? t.common.none}
                </p>
              </div>
            ))}
            <div>
              <h3 className={styles.title}>{texts.tools({ n: tools.length })}</h3>
              <p className={styles.tools}>{tools.map((tool) => (tool as { name: string }).name).join(', ')}</p>
            </div>
            <details className={styles.details}>
              <summary>{texts.exactly}</summary>
              <Stack gap="sm" mt="xs">
                <CodeBlock label="who_am_i" value={JSON.stringify(whoAmI, null, 2)} isLow />
                <CodeBlock label="tools/list" value={JSON.stringify(tools, null, 2)} isLow />
              </Stack>
            </details>
          </>
        )
      }}
    </QueryBoundary>
  )
}
