import { Button, Select, Skeleton, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { type Connection, useConnections, useTemplates } from '../../data/connections.ts'
import { type NewConversation, startConversation } from '../../data/lead/start-conversation.ts'
import { type Lead, leadKey } from '../../data/leads.ts'
import { findTemplates, piecesOf, problemOf, type Template, valuesFor } from '../../shared/template-preview.ts'
import { language, t } from '../../text/index.ts'
import { sentenceFor } from '../../ui/format/failure-words.ts'
import { languageName } from '../../ui/format/language-name.ts'
import { say } from '../../ui/overlay/notices.tsx'
import { Empty } from '../../ui/page/Empty.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { nameOf } from '../fields/lead.ts'
import { goTo } from './InboxLink.tsx'
import styles from './StartConversation.module.css'

interface StartConversationProps {
  lead: Lead
  close(): void
}

/** Numbers that may write first: a phone linked by QR code may not, nor one that is down. */
const canStart = ({ channel, state }: Connection) => channel !== 'unofficial' && state === 'active'

/** Writes to somebody who has not written: which number, which template, what is in it. */
export default function StartConversation({ lead, close }: StartConversationProps) {
  const workspaceId = useWorkspaceId()
  const { data: connections } = useConnections(workspaceId)
  const { start } = t.leadPage
  const numbers = connections?.filter(canStart)
  const title = start.title(nameOf(lead))
  if (lead.phone !== null && numbers?.length !== undefined && numbers.length > 0) {
    return <Start title={title} lead={lead} phone={lead.phone} numbers={numbers} close={close} />
  }
  return (
    <SidePanel title={title} close={close}>
      {lead.phone === null ? (
        <Empty title={start.noPhone} />
      ) : numbers === undefined ? (
        <Skeleton height={120} />
      ) : (
        <Empty
          title={start.noConnection}
          help={start.noConnectionHelp}
          action={{ label: start.connections, run: () => goTo(`/w/${workspaceId}/connections`) }}
        />
      )}
    </SidePanel>
  )
}

interface StartProps extends StartConversationProps {
  title: string
  phone: string
  numbers: readonly Connection[]
}

function Start({ title, lead, phone, numbers, close }: StartProps) {
  const { start } = t.leadPage
  const [connectionId, setConnectionId] = useState(numbers[0]?.id ?? '')
  const [chosen, setChosen] = useState<Template | null>(null)
  const [values, setValues] = useState<string[]>([])
  const [isTried, setTried] = useState(false)
  const problems = values.map(problemOf)
  const send = useStart(lead, phone, close)
  const choose = (template: Template | null) => {
    setChosen(template)
    setTried(false)
    send.reset()
    setValues(template === null ? [] : valuesFor(template, lead.firstName))
  }
  const submit = () => {
    setTried(true)
    if (chosen === null || problems.some((problem) => problem !== null) || send.isPending) return
    const { name, language: code } = chosen
    send.mutate({ connectionId, template: { name, language: code, parameters: values.map((one) => one.trim()) } })
  }
  return (
    <SidePanel
      title={title}
      close={close}
      submit={submit}
      footer={
        <>
          <Button variant="default" onClick={close}>
            {t.common.cancel}
          </Button>
          <Button type="submit" disabled={chosen === null} loading={send.isPending}>
            {start.send}
          </Button>
        </>
      }
    >
      <Text size="sm">{start.help}</Text>
      <Select
        label={start.number}
        data={numbers.map(({ id, name }) => ({ value: id, label: name }))}
        value={connectionId}
        allowDeselect={false}
        onChange={(id) => {
          setConnectionId(id ?? '')
          choose(null)
        }}
      />
      <TemplateChoice connectionId={connectionId} chosen={chosen} choose={choose} />
      {values.map((value, n) => (
        <TextInput
          // biome-ignore lint/suspicious/noArrayIndexKey: a parameter is its number
          key={n}
          label={start.value(n + 1)}
          value={value}
          dir="auto"
          error={wordsFor(problems[n] ?? null, isTried)}
          onChange={({ currentTarget }) => {
            const typed = currentTarget.value
            setValues((before) => before.with(n, typed))
          }}
        />
      ))}
      {chosen !== null && <Preview body={chosen.body} values={values} />}
      {send.error !== null && (
        <p className={styles.refusal} role="alert">
          {sentenceFor(send.error)}
        </p>
      )}
    </SidePanel>
  )
}

function useStart(lead: Lead, phone: string, close: () => void) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  // A try whose answer was lost may have come through: the same message goes under the same key.
  const key = useRef<{ of: string; value: string }>(undefined)
  return useMutation({
    mutationFn: (asked: Omit<NewConversation, 'phone'>) => {
      const of = JSON.stringify(asked)
      if (key.current?.of !== of) key.current = { of, value: crypto.randomUUID() }
      return startConversation(workspaceId, { ...asked, phone }, key.current.value)
    },
    onSuccess: ({ conversation_id, status }) => {
      void queries.invalidateQueries({ queryKey: leadKey(workspaceId, lead.id) })
      close()
      goTo(`/w/${workspaceId}/inbox/${conversation_id}`)
      if (status === 'failed') say(t.leadPage.start.failed)
    },
  })
}

const wordsFor = (problem: ReturnType<typeof problemOf>, isTried: boolean): string | undefined =>
  problem === null || (problem === 'empty' && !isTried) ? undefined : t.compose.templates.problems[problem]

interface TemplateChoiceProps {
  connectionId: string
  chosen: Template | null
  choose(template: Template | null): void
}

function TemplateChoice({ connectionId, chosen, choose }: TemplateChoiceProps) {
  const query = useTemplates(useWorkspaceId(), connectionId)
  const { start } = t.leadPage
  if (query.isPending) return <Skeleton height={60} />
  if (query.error !== null) return <p role="alert">{sentenceFor(query.error)}</p>
  // A picture or a file belongs to a conversation that there is.
  const templates = findTemplates(query.data, '', language).filter(({ header }) => header === null)
  if (templates.length === 0) return <Empty title={start.noTemplate} help={start.noTemplateHelp} />
  return (
    <Select
      label={start.template}
      placeholder={start.choose}
      searchable
      data={templates.map((one) => ({
        value: one.id,
        label: `${one.name.replaceAll('_', ' ')} (${languageName(one.language)})`,
      }))}
      value={chosen?.id ?? null}
      allowDeselect={false}
      onChange={(id) => choose(templates.find((one) => one.id === id) ?? null)}
    />
  )
}

function Preview({ body, values }: { body: string; values: readonly string[] }) {
  return (
    <figure className={styles.preview}>
      <figcaption>{t.leadPage.start.preview}</figcaption>
      <p dir="auto">
        {piecesOf(body, values).map((piece, n) =>
          'text' in piece ? (
            piece.text
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no other name
            <mark key={n} data-empty={piece.value === '' || undefined}>
              {piece.value || `{{${piece.parameter}}}`}
            </mark>
          ),
        )}
      </p>
    </figure>
  )
}
