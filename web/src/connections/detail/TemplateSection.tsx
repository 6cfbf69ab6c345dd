import { Button, UnstyledButton } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { type Connection, type Template, useConnectionActions, useTemplates } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { Chip, type Tone } from '../../ui/Chip.tsx'
import { languageName } from '../../ui/format/language-name.ts'
import { timeAgo } from '../../ui/format/time.ts'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { Section } from '../parts/Section.tsx'
import { partsOf } from '../parts/state-texts.ts'
import styles from './detail.module.css'

/** Templates of the platform; each expands to show its text. */
export function TemplateSection({ connection, mayChange }: { connection: Connection; mayChange: boolean }) {
  const workspaceId = useWorkspaceId()
  const query = useTemplates(workspaceId, connection.id)
  const { syncTemplates } = useConnectionActions(workspaceId)
  const { templates } = t.connections
  const sync = useMutation({
    mutationFn: () => syncTemplates(connection.id),
    onError: showError,
    onSuccess: (all) => showToast(templates.read({ n: all.length })),
  })
  return (
    <Section
      title={templates.title}
      action={
        mayChange && (
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<IconRefresh size={14} />}
            onClick={() => sync.mutate()}
            loading={sync.isPending}
          >
            {templates.sync}
          </Button>
        )
      }
    >
      {connection.templatesSyncedAt !== null && (
        <p className={styles.muted}>{templates.syncedAt({ when: timeAgo(connection.templatesSyncedAt) })}</p>
      )}
      <QueryBoundary query={query} rows={3}>
        {(all) =>
          all.length === 0 ? (
            <p className={styles.line}>{templates.empty}</p>
          ) : (
            <ul className={styles.templates}>
              {all.map((one) => (
                <TemplateRow key={one.id} template={one} />
              ))}
            </ul>
          )
        }
      </QueryBoundary>
    </Section>
  )
}

const tones: Record<string, Tone> = { APPROVED: 'good', REJECTED: 'bad', DISABLED: 'bad', PAUSED: 'attention' }

function TemplateRow({ template }: { template: Template }) {
  const [isOpen, setOpen] = useState(false)
  const { templates } = t.connections
  const words: Record<string, string> = templates.statuses
  return (
    <li>
      <UnstyledButton className={styles.template} onClick={() => setOpen(!isOpen)} aria-expanded={isOpen}>
        <strong>{template.name}</strong>
        <span className={styles.muted}>{languageName(template.language)}</span>
        <Chip tone={tones[template.status] ?? 'plain'}>{words[template.status] ?? template.status}</Chip>
      </UnstyledButton>
      {isOpen && (
        <>
          <p className={styles.bubble} dir="auto">
            {partsOf(template.body).map(({ text, isPlace }, n) =>
              isPlace ? (
                // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text, in fixed order
                <span key={n} className={styles.place}>
                  {text}
                </span>
              ) : (
                text
              ),
            )}
          </p>
          {!template.sendable && template.status === 'APPROVED' && (
            <p className={styles.muted}>{templates.notSendable}</p>
          )}
        </>
      )}
    </li>
  )
}
