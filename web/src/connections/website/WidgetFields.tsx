import { Checkbox, Select, Textarea, TextInput } from '@mantine/core'
import { type Connection, useConnections } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { languageName } from '../../ui/format/language-name.ts'
import type { Draft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'

type Shown = NonNullable<Connection['widget']>
export type Widget = Omit<Shown, 'scriptUrl' | 'hasIdentitySecret'>
/** `origins`: one a line. */
export interface WidgetDraft {
  name: string
  widget: Omit<Widget, 'origins'> & { origins: string }
}

export const blankWidget: WidgetDraft['widget'] = {
  title: '',
  color: '#2f6f5e',
  language: 'en',
  greeting: {},
  fields: { name: 'optional', email: 'off', phone: 'off' },
  origins: '',
  whatsapp: null,
}

export function draftOf({ name, widget }: Connection): WidgetDraft {
  if (widget === null) return { name, widget: blankWidget }
  const { scriptUrl: _url, hasIdentitySecret: _secret, origins, ...shown } = widget
  return { name, widget: { ...shown, origins: origins.join('\n') } }
}

/** Returns what the server stores: greetings without the empty ones, and the title, by default the connection's name. */
export function widgetOf({ name, widget }: WidgetDraft): Widget {
  const greeting = Object.entries(widget.greeting).filter(([, words]) => words?.trim())
  const origins = widget.origins.split(/\s+/).filter((origin) => origin !== '')
  return { ...widget, title: widget.title.trim() || name.trim(), greeting: Object.fromEntries(greeting), origins }
}

const languages = ['en', 'pt', 'es'] as const
const asked = ['name', 'email', 'phone'] as const
const askings = ['off', 'optional', 'required'] as const

/** What visitors see, and the sites that may show it. */
export function WidgetFields({ draft }: { draft: Draft<WidgetDraft> }) {
  const { value, set, issueAt, errorOf } = draft
  const { widget } = value
  const texts = t.connections.widget
  const change = (changes: Partial<WidgetDraft['widget']>) => set({ widget: { ...widget, ...changes } })
  const originProblem = widget.origins.split(/\s+/).map((_, n) => issueAt(`widget.origins[${n}]`))
  return (
    <>
      <TextInput
        label={t.connections.fields.name}
        description={t.connections.fields.nameHelp}
        data-autofocus
        required
        value={value.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
        error={errorOf('name')}
        autoComplete="off"
      />
      <TextInput
        label={texts.title}
        description={texts.titleHelp}
        maxLength={60}
        value={widget.title}
        onChange={(event) => change({ title: event.currentTarget.value })}
        error={issueAt('widget.title')}
        autoComplete="off"
      />
      <Textarea
        label={texts.origins}
        description={texts.originsHelp}
        placeholder="https://www.example.com"
        autosize
        minRows={2}
        value={widget.origins}
        onChange={(event) => change({ origins: event.currentTarget.value })}
        error={originProblem.find((each) => each !== undefined)}
      />
      <TextInput
        type="color"
        label={texts.color}
        value={widget.color}
        onChange={(event) => change({ color: event.currentTarget.value })}
      />
      <Select
        label={texts.language}
        description={texts.languageHelp}
        data={languages.map((each) => ({ value: each, label: languageName(each) }))}
        value={widget.language}
        onChange={(chosen) => change({ language: languages.find((each) => each === chosen) ?? 'en' })}
        allowDeselect={false}
      />
      <GreetingFields widget={widget} change={change} />
      <WhatsappField phone={widget.whatsapp} choose={(whatsapp) => change({ whatsapp })} />
    </>
  )
}

interface PartProps {
  widget: WidgetDraft['widget']
  change(changes: Partial<WidgetDraft['widget']>): void
}

/** What the widget says and asks before a chat. */
function GreetingFields({ widget, change }: PartProps) {
  const texts = t.connections.widget
  return (
    <>
      {languages.map((each) => (
        <Textarea
          key={each}
          label={`${texts.greeting}: ${languageName(each)}`}
          autosize
          maxLength={300}
          value={widget.greeting[each] ?? ''}
          onChange={(event) => change({ greeting: { ...widget.greeting, [each]: event.currentTarget.value } })}
        />
      ))}
      {asked.map((field) => (
        <Select
          key={field}
          label={texts.asks[field]}
          data={askings.map((each) => ({ value: each, label: texts.askings[each] }))}
          value={widget.fields[field]}
          onChange={(chosen) => {
            const asking = askings.find((each) => each === chosen) ?? 'off'
            change({ fields: { ...widget.fields, [field]: asking } })
          }}
          allowDeselect={false}
        />
      ))}
    </>
  )
}

/** Offers the numbers that are connected. */
function WhatsappField({ phone, choose }: { phone: string | null; choose(phone: string | null): void }) {
  const { data: connections = [] } = useConnections(useWorkspaceId())
  const numbers = [...new Set([...connections.flatMap((one) => one.phone ?? []), ...(phone === null ? [] : [phone])])]
  const texts = t.connections.widget
  if (numbers.length === 0) return null
  return (
    <>
      <Checkbox
        label={texts.whatsapp}
        checked={phone !== null}
        onChange={(event) => choose(event.currentTarget.checked ? (numbers[0] ?? null) : null)}
      />
      {phone !== null && (
        <Select
          aria-label={texts.whatsapp}
          data={numbers.map((each) => ({ value: each, label: `+${each}` }))}
          value={phone}
          onChange={choose}
          allowDeselect={false}
        />
      )}
    </>
  )
}
