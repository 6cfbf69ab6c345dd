import { Checkbox, MultiSelect, Select, TagsInput, Textarea, TextInput } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { Action } from '../../data/team/automation.ts'
import { Duration } from '../../shared/Duration.tsx'
import { t } from '../../text/index.ts'
import { MoveButtons, RowButton } from '../parts/RowButton.tsx'
import styles from './Automation.module.css'
import { AddMenu } from './ConditionFields.tsx'
import { type Kind, kindsFor, newAction, type Trigger } from './rule-draft.ts'
import type { Choice, Choices } from './use-choices.ts'

interface ActionFieldsProps {
  /** Null in a macro. */
  trigger: Trigger | null
  actions: readonly Action[]
  set(actions: Action[]): void
  choices: Choices
  error: string | undefined
}

/** What a rule or macro does, in order. */
export function ActionFields({ trigger, actions, set, choices, error }: ActionFieldsProps) {
  const texts = t.settings.automation
  return (
    <fieldset className={styles.part}>
      <legend>{texts.actions}</legend>
      {actions.map((action, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: actions have no ids
        <div key={n} className={styles.row}>
          <div className={styles.condition}>
            <span className={styles.name}>{texts.kinds[action.kind]}</span>
            <OneAction
              action={action}
              place={n + 1}
              isOfRule={trigger !== null}
              choices={choices}
              change={(to) => set(actions.with(n, { ...action, ...to }))}
              replace={(to) => set(actions.with(n, to))}
            />
          </div>
          <MoveButtons
            up={texts.moveUp({ n: n + 1 })}
            down={texts.moveDown({ n: n + 1 })}
            at={n}
            last={actions.length - 1}
            move={(by) => set(actions.toSpliced(n, 1).toSpliced(n + by, 0, action))}
          />
          <RowButton label={texts.removeAction({ n: n + 1 })} icon={IconX} run={() => set(actions.toSpliced(n, 1))} />
        </div>
      ))}
      {error !== undefined && <p role="alert">{error}</p>}
      {actions.length < 10 && (
        <AddMenu
          label={texts.addAction}
          items={kindsFor(trigger).map((kind) => ({ value: kind, label: texts.kinds[kind] }))}
          add={(kind) => set([...actions, newAction(kind as Kind)])}
        />
      )}
    </fieldset>
  )
}

interface OneActionProps {
  action: Action
  place: number
  isOfRule: boolean
  choices: Choices
  change(to: Partial<Action>): void
  replace(to: Action): void
}

function OneAction({ place, ...props }: OneActionProps): ReactNode {
  const { action, choices, change } = props
  const texts = t.settings.automation
  const { kind } = action
  const label = texts.valueOf({ n: place, name: texts.kinds[kind] })
  const choice = choicesOf(choices)[kind]
  if (choice !== undefined) {
    const { field, data } = choice
    const nothing = data.some(({ value }) => value === none) ? none : null
    return (
      <Select
        aria-label={label}
        data={data}
        value={action[field] || nothing}
        allowDeselect={false}
        searchable
        onChange={(chosen) => chosen !== null && change({ [field]: chosen === none ? null : chosen })}
      />
    )
  }
  switch (kind) {
    case 'add_labels':
    case 'remove_labels':
      return (
        <MultiSelect
          aria-label={label}
          data={choices.labels}
          value={action.labelIds ?? []}
          onChange={(labelIds) => change({ labelIds })}
          maxValues={20}
          searchable
        />
      )
    case 'wait':
      return (
        <>
          <Duration label={label} minutes={action.minutes ?? 60} set={(minutes) => change({ minutes })} />
          <Checkbox
            label={texts.endsIfWritten}
            checked={action.endsIfCustomerWrites === true}
            onChange={(event) => change({ endsIfCustomerWrites: event.currentTarget.checked })}
          />
        </>
      )
    case 'add_note':
      return <TextArea label={label} value={action.text ?? ''} set={(text) => change({ text })} />
    case 'reply':
    case 'send_template':
      return <Message label={label} {...props} />
    case 'set_lead_field':
      return <LeadField label={label} {...props} />
    default:
      return null
  }
}

interface OneChoice {
  /** Field of the action that holds the chosen value. */
  field: 'userId' | 'teamId' | 'keyId' | 'status' | 'priority' | 'endpointId' | 'sequenceId'
  data: Choice[]
}

/** Stands for null. */
const none = 'none'

/** Returns the choices of the actions that need one thing only. */
function choicesOf(choices: Choices): Partial<Record<Kind, OneChoice>> {
  const { nobody, noTeam } = t.inbox.actions
  const { noPriority } = t.settings.automation
  const endpoint: OneChoice = { field: 'endpointId', data: choices.endpoints }
  return {
    assign: { field: 'userId', data: [{ value: none, label: nobody }, ...choices.members] },
    assign_team: { field: 'teamId', data: [{ value: none, label: noTeam }, ...choices.teams] },
    to_agent: { field: 'keyId', data: choices.keys },
    set_status: { field: 'status', data: choices.statuses },
    set_priority: { field: 'priority', data: [...choices.priorities, { value: none, label: noPriority }] },
    send_webhook: endpoint,
    send_request: endpoint,
    start_sequence: { field: 'sequenceId', data: choices.sequences },
  }
}

const TextArea = ({ label, value, set }: { label: string; value: string; set(value: string): void }) => (
  <Textarea
    aria-label={label}
    autosize
    minRows={2}
    maxRows={8}
    maxLength={4096}
    value={value}
    onChange={(event) => set(event.currentTarget.value)}
  />
)

type LabelledProps = Omit<OneActionProps, 'place'> & { label: string }

function Message({ action, label, isOfRule, choices, change, replace }: LabelledProps) {
  const texts = t.settings.automation
  const { kind, text, cannedReplyId, template, isAnswer = false } = action
  return (
    <>
      {kind === 'reply' && (
        <Select
          aria-label={texts.replySource}
          data={[{ value: '', label: texts.ownText }, ...choices.replies]}
          value={cannedReplyId ?? ''}
          allowDeselect={false}
          searchable
          onChange={(id) =>
            replace({ kind, ...(isOfRule && { isAnswer }), ...(id ? { cannedReplyId: id } : { text: '' }) })
          }
        />
      )}
      {kind === 'reply' && cannedReplyId === undefined && (
        <>
          <TextArea label={label} value={text ?? ''} set={(next) => change({ text: next })} />
          <p className={styles.help}>{texts.placeholders}</p>
        </>
      )}
      {kind === 'send_template' && template !== undefined && (
        <div className={styles.pair}>
          <TextInput
            aria-label={texts.templateName}
            placeholder={texts.templateName}
            maxLength={512}
            value={template.name}
            onChange={(event) => change({ template: { ...template, name: event.currentTarget.value.trim() } })}
          />
          <TextInput
            aria-label={texts.templateLanguage}
            placeholder="en_US"
            maxLength={20}
            value={template.language}
            onChange={(event) => change({ template: { ...template, language: event.currentTarget.value.trim() } })}
          />
          <TagsInput
            className={styles.wide}
            aria-label={texts.templateValues}
            placeholder={texts.templateValues}
            value={template.parameters ?? []}
            maxTags={100}
            onChange={(parameters) => change({ template: { ...template, parameters } })}
          />
        </div>
      )}
      {isOfRule && (
        <Checkbox
          label={texts.isAnswer}
          description={texts.isAnswerHelp}
          checked={isAnswer}
          onChange={(event) => change({ isAnswer: event.currentTarget.checked })}
        />
      )}
    </>
  )
}

function LeadField({ action, label, choices, change, replace }: LabelledProps) {
  const texts = t.settings.automation
  const { kind, field = 'status', key, value } = action
  const lists: Partial<Record<typeof field, Choice[]>> = {
    status: choices.leadStatuses,
    priority: Object.entries(t.lead.priorities).map(([value, label]) => ({ value, label })),
    assignedTo: choices.members,
  }
  const chosen = lists[field]
  const fields = [
    ...(['status', 'priority', 'assignedTo'] as const).map((name) => ({ value: name, label: texts.leadFields[name] })),
    ...choices.leadFields.map((one) => ({ value: `custom ${one.value}`, label: one.label })),
  ]
  const setField = (name: string) => {
    if (name.startsWith('custom ')) replace({ kind, field: 'custom', key: name.slice('custom '.length), value: null })
    else replace({ kind, field: name as 'status', value: lists[name as 'status']?.[0]?.value ?? null })
  }
  return (
    <div className={styles.pair}>
      <Select
        aria-label={texts.leadField}
        data={fields}
        value={field === 'custom' ? `custom ${key}` : field}
        allowDeselect={false}
        searchable
        onChange={(name) => name !== null && setField(name)}
      />
      {chosen === undefined ? (
        <TextInput
          aria-label={label}
          maxLength={255}
          value={value ?? ''}
          onChange={(event) => change({ value: event.currentTarget.value || null })}
        />
      ) : (
        <Select
          aria-label={label}
          data={chosen}
          value={value ?? null}
          allowDeselect={false}
          searchable
          onChange={(next) => next !== null && change({ value: next })}
        />
      )}
    </div>
  )
}
