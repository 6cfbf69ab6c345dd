import { Button, Select, Skeleton, Text, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { useTemplates } from '../../data/connections.ts'
import type { Conversation } from '../../data/inbox/types.ts'
import { language, t } from '../../text/index.ts'
import { errorSentence } from '../../ui/format/error-texts.ts'
import { languageName } from '../../ui/format/language-name.ts'
import { EmptyState } from '../../ui/page/EmptyState.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { inputError, TemplateInputFields } from '../TemplateInputFields.tsx'
import { TemplatePreview } from '../TemplatePreview.tsx'
import { findTemplates, problemOf } from '../template-preview.ts'
import styles from './start.module.css'
import { fieldOf, type StartField } from './start-rules.ts'
import { type StartForm, type StartOptions, useStart } from './use-start.ts'

interface StartPanelProps extends StartOptions {
  title: string
  /** Field to choose the recipient, with its error. */
  recipientField?(problem: string | null): ReactNode
}

/** Starts a conversation: choice of connection and template. If one exists, it is opened instead. */
export function StartPanel({ title, recipientField, ...starting }: StartPanelProps) {
  const { recipient, close } = starting
  const start = useStart(starting)
  const refusalFor = refusalIn(start.error)
  const takesFocus = recipientField !== undefined
  const go = useRef<HTMLButtonElement>(null)
  const hasConversation = start.conversation != null
  useEffect(() => {
    if (takesFocus && hasConversation) go.current?.focus()
  }, [takesFocus, hasConversation])
  if (start.hasNoSender) {
    return (
      <SidePanel title={title} close={close}>
        <NoNumber />
      </SidePanel>
    )
  }
  const recipientProblem =
    refusalFor('recipient') ?? (start.isTried && recipient === null ? t.start.problems.recipient : null)
  return (
    <SidePanel
      title={title}
      close={close}
      submit={start.submit}
      footer={
        <>
          <Button variant="default" onClick={close}>
            {t.common.cancel}
          </Button>
          <Button ref={go} type="submit" loading={start.isSending} disabled={start.numbers === undefined}>
            {hasConversation ? t.start.open : start.needsConfirmation ? t.compose.refusal.sendAnyway : t.start.send}
          </Button>
        </>
      }
    >
      {!hasConversation && <Text size="sm">{t.start.help}</Text>}
      {recipientField?.(recipientProblem)}
      {recipient !== null && (
        <Fields name={recipient.name} start={start} refusalFor={refusalFor} takesFocus={takesFocus} />
      )}
      {refusalFor('all') !== null && (
        <p className={styles.refusal} role="alert">
          {refusalFor('all')}
        </p>
      )}
    </SidePanel>
  )
}

interface FieldsProps {
  name: string
  start: StartForm
  refusalFor(place: StartField): string | null
  takesFocus: boolean
}

function Fields({ name, start, refusalFor, takesFocus }: FieldsProps) {
  const { numbers, connectionId, conversation, conversations } = start
  if (numbers === undefined || conversation === undefined) return <Skeleton height={120} />
  return (
    <>
      <Select
        label={t.start.number}
        data={numbers.map((one) => ({ value: one.id, label: one.name }))}
        value={connectionId}
        allowDeselect={false}
        error={refusalFor('number')}
        onChange={start.chooseNumber}
      />
      {conversation === null && connectionId !== null && (
        <TemplateFields
          key={`${connectionId} ${start.phone}`}
          connectionId={connectionId}
          start={start}
          refusal={refusalFor('template')}
          takesFocus={takesFocus}
        />
      )}
      <ExistingConversation
        name={name}
        conversation={conversation}
        others={conversations.filter((one) => one !== conversation)}
        open={start.openConversation}
      />
    </>
  )
}

/** Returns the error text for a field. */
function refusalIn(error: unknown): (place: StartField) => string | null {
  if (error === null) return () => null
  const reasons: Record<string, string> = t.compose.refusal.reasons
  const code = error instanceof ApiError ? (error.code ?? '') : ''
  const words = reasons[code] ?? errorSentence(error)
  return (place) => (place === fieldOf(error) ? words : null)
}

function NoNumber() {
  const workspaceId = useWorkspaceId()
  const navigate = useNavigate()
  const connect = () => void navigate({ to: '/w/$workspaceId/connections', params: { workspaceId } })
  const action = { label: t.start.connections, run: connect }
  return <EmptyState title={t.start.noConnection} help={t.start.noConnectionHelp} action={action} />
}

interface TemplateFieldsProps {
  connectionId: string
  start: Pick<StartForm, 'template' | 'choose' | 'values' | 'setValue' | 'inputs' | 'setInputs' | 'isTried'>
  /** Error of the server about the template. */
  refusal: string | null
  /** Takes the focus after a recipient was chosen. */
  takesFocus: boolean
}

/** Chooses a template and its values, with a preview. */
function TemplateFields({ connectionId, start, refusal, takesFocus }: TemplateFieldsProps) {
  const { template, values, inputs, isTried } = start
  const missing = isTried && template === null ? t.start.problems.template : null
  return (
    <>
      <TemplateChoice connectionId={connectionId} start={start} problem={refusal ?? missing} takesFocus={takesFocus} />
      {values.map((value, n) => (
        <TextInput
          // biome-ignore lint/suspicious/noArrayIndexKey: parameters are identified by index
          key={n}
          label={t.start.value({ n: template?.parameterNames?.[n] ?? `${n + 1}` })}
          value={value}
          dir="auto"
          error={inputError(problemOf(value, template), isTried)}
          onChange={({ currentTarget }) => start.setValue(n, currentTarget.value)}
        />
      ))}
      {template !== null && (
        <>
          <TemplateInputFields template={template} values={inputs} set={start.setInputs} isTried={isTried} />
          <TemplatePreview body={template.body} values={values} />
        </>
      )}
    </>
  )
}

interface TemplateChoiceProps extends Pick<TemplateFieldsProps, 'connectionId' | 'start' | 'takesFocus'> {
  problem: string | null
}

function TemplateChoice({ connectionId, start, problem, takesFocus }: TemplateChoiceProps) {
  const query = useTemplates(useWorkspaceId(), connectionId)
  const field = useRef<HTMLInputElement>(null)
  const isLoaded = query.data !== undefined
  useEffect(() => {
    if (takesFocus && isLoaded) field.current?.focus()
  }, [takesFocus, isLoaded])
  if (query.isPending) return <Skeleton height={60} />
  if (query.error !== null) return <p role="alert">{errorSentence(query.error)}</p>
  // Headers with a file require an existing conversation for the upload.
  const templates = findTemplates(query.data, '', language).filter(({ header }) => header === null)
  if (templates.length === 0) return <EmptyState title={t.start.noTemplate} help={t.start.noTemplateHelp} />
  return (
    <Select
      ref={field}
      label={t.start.template}
      placeholder={t.start.choose}
      searchable
      openOnFocus={false}
      data={templates.map((one) => ({
        value: one.id,
        label: `${one.name.replaceAll('_', ' ')} (${languageName(one.language)})`,
      }))}
      value={start.template?.id ?? null}
      allowDeselect={false}
      error={problem}
      onChange={(id) => start.choose(templates.find((one) => one.id === id) ?? null)}
    />
  )
}

interface ExistingConversationProps {
  name: string
  /** With the chosen connection. */
  conversation: Conversation | null
  others: readonly Conversation[]
  open(conversationId: string): void
}

/** Says that a conversation exists, with this connection or others. */
function ExistingConversation({ name, conversation, others, open }: ExistingConversationProps) {
  return (
    <>
      {conversation !== null && (
        <div className={styles.existing} role="status">
          <p>{t.start.exists({ name })}</p>
          <p>{t.start.existing[messageOptions(conversation)]}</p>
        </div>
      )}
      {others.map(({ id, connectionName }) => (
        <button key={id} type="button" className={styles.elsewhere} onClick={() => open(id)}>
          {t.start.elsewhere({ connection: connectionName ?? t.common.unknown })}
        </button>
      ))}
    </>
  )
}

/** Returns what can be sent in a conversation now: text, a template, or nothing. */
function messageOptions({ windowExpiresAt, channel }: Conversation): 'open' | 'closed' | 'silent' {
  if (windowExpiresAt !== null && Date.parse(windowExpiresAt) > Date.now()) return 'open'
  return channel === 'unofficial' ? 'silent' : 'closed'
}
