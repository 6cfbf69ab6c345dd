import { Text, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useState } from 'react'
import { useTemplates } from '../../data/connections.ts'
import type { Conversation, Reply } from '../../data/inbox/types.ts'
import { findTemplates, findUnsendable, type Template } from '../../shared/template-preview.ts'
import { language, t } from '../../text/index.ts'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './TemplateComposer.module.css'
import { TemplateForm } from './TemplateForm.tsx'

interface TemplateComposerProps {
  conversation: Conversation
  isClosed: boolean
  keepsText: boolean
  send(reply: Reply, text: string): void
  /** Called when a template is chosen: its values stay even if the customer writes meanwhile. */
  onStarted(): void
  onSent(): void
}

/** Shown instead of the field when only templates can be sent: approved templates with a preview. */
export default function TemplateComposer(props: TemplateComposerProps) {
  const workspaceId = useWorkspaceId()
  const { conversation, isClosed, keepsText } = props
  const query = useTemplates(workspaceId, conversation.connectionId)
  const sendsNone = conversation.channel === 'unofficial' || conversation.channel === 'website'
  return (
    <div className={styles.templates}>
      {isClosed && (
        <p className={styles.why} role="status">
          {sendsNone ? t.compose.closedWithoutTemplates : t.compose.closed} {keepsText && t.compose.kept}
        </p>
      )}
      {!sendsNone && (
        <QueryBoundary query={query} rows={3}>
          {(templates) =>
            templates.some(({ sendable, status }) => sendable || status === 'APPROVED') ? (
              <Picker templates={templates} {...props} />
            ) : (
              <div className={styles.empty}>
                <Text size="md">{t.compose.templates.empty}</Text>
                <Text size="sm" c="dimmed">
                  {t.compose.templates.emptyHelp}
                </Text>
              </div>
            )
          }
        </QueryBoundary>
      )}
    </div>
  )
}

interface PickerProps extends TemplateComposerProps {
  templates: readonly Template[]
}

function Picker({ templates, conversation, send, onStarted, onSent }: PickerProps) {
  const texts = t.compose.templates
  const [term, setTerm] = useState('')
  const [chosenId, setChosenId] = useState<string | null>(null)
  const found = findTemplates(templates, term, language)
  // For a name in several languages, the list shows the closest language; the preview offers the others.
  const rows = found.filter(({ name }, n) => found.findIndex((one) => one.name === name) === n)
  const unsendable = findUnsendable(templates, term, language)
  const chosen = templates.find(({ id }) => id === chosenId)
  const languages = chosen === undefined ? [] : templates.filter((one) => one.sendable && one.name === chosen.name)
  return (
    <div className={styles.panes} data-chosen={chosen !== undefined || undefined}>
      <div className={styles.list}>
        <TextInput
          aria-label={texts.search}
          placeholder={texts.search}
          leftSection={<IconSearch size={16} />}
          value={term}
          onChange={(event) => setTerm(event.currentTarget.value)}
        />
        {rows.length + unsendable.length === 0 && <p className={styles.none}>{texts.notFound}</p>}
        <ul className={styles.rows} aria-label={texts.title}>
          {rows.map((one) => (
            <li key={one.id}>
              <button
                type="button"
                className={styles.row}
                aria-pressed={one.name === chosen?.name}
                onClick={() => {
                  setChosenId(one.id)
                  onStarted()
                }}
              >
                <strong>{titleOf(one.name)}</strong>
                <span>{one.body}</span>
              </button>
            </li>
          ))}
          {unsendable.map((one) => (
            <li key={one.id} className={styles.unsendable}>
              <strong>{titleOf(one.name)}</strong>
              <span>{texts.needsMore}</span>
            </li>
          ))}
        </ul>
      </div>
      {chosen === undefined ? (
        <p className={styles.choose}>{texts.choose}</p>
      ) : (
        <TemplateForm
          key={chosen.id}
          template={chosen}
          title={titleOf(chosen.name)}
          languages={languages}
          conversation={conversation}
          chooseLanguage={setChosenId}
          back={() => setChosenId(null)}
          send={(reply, text) => {
            send(reply, text)
            setChosenId(null)
            onSent()
          }}
        />
      )}
    </div>
  )
}

/** Makes a name such as `order_update` readable. */
const titleOf = (name: string): string => {
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
