import { Button, Select, TextInput } from '@mantine/core'
import { IconArrowLeft, IconSend2 } from '@tabler/icons-react'
import { type FormEvent, useLayoutEffect, useRef, useState } from 'react'
import type { Conversation, Reply } from '../../data/inbox/types.ts'
import { useUploadLimits } from '../../data/inbox/uploads.ts'
import { TemplateInputFields } from '../../shared/TemplateInputFields.tsx'
import { TemplatePreview } from '../../shared/TemplatePreview.tsx'
import { hasInputProblem, inputFields, inputProblems, noInputs } from '../../shared/template-inputs.ts'
import { filledText, problemOf, type Template } from '../../shared/template-preview.ts'
import { t } from '../../text/index.ts'
import { languageName } from '../../ui/format/language-name.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { HeaderField, useHeaderFile } from '../attach/HeaderField.tsx'
import { SendLater } from '../follow/SendLater.tsx'
import styles from './TemplateComposer.module.css'

interface TemplateFormProps {
  template: Template
  title: string
  languages: readonly Template[]
  conversation: Conversation
  chooseLanguage(id: string): void
  back(): void
  send(reply: Reply, text: string): void
}

/** Values of a template, and a preview. */
export function TemplateForm(props: TemplateFormProps) {
  const { template, title, languages, conversation, chooseLanguage, back, send } = props
  const texts = t.compose.templates
  const [values, setValues] = useState<string[]>(() => Array.from({ length: template.parameterCount }, () => ''))
  const [isTried, setTried] = useState(false)
  const [inputs, setInputs] = useState(noInputs)
  const problems = values.map((value) => problemOf(value, template))
  const { header } = template
  const limits = useUploadLimits(useWorkspaceId(), conversation)
  const file = useHeaderFile(conversation.id, header ?? 'image', limits)
  const first = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => first.current?.focus(), [])
  const fill = () => {
    setTried(true)
    const isIncomplete = problems.some((problem) => problem !== null) || (header !== null && file.upload === null)
    if (isIncomplete || hasInputProblem(inputProblems(template, inputs))) return null
    const filled = values.map((value) => value.trim())
    const { name, language: code } = template
    const more = inputFields(template, inputs, filled[0])
    return { template: { name, language: code, body_params: filled, ...more } }
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const filled = fill()
    if (filled === null) return
    file.release()
    const withHeader = file.upload === null ? {} : { header_upload_id: file.upload.id }
    const chosen = { ...filled.template, ...withHeader }
    send({ kind: 'template', template: chosen }, filledText(template.body, chosen.body_params))
  }
  return (
    <form className={styles.form} onSubmit={submit} noValidate>
      <div className={styles.head}>
        <Button
          className={styles.back}
          size="compact-sm"
          variant="subtle"
          color="gray"
          leftSection={<IconArrowLeft size={16} />}
          onClick={back}
        >
          {t.common.back}
        </Button>
        <strong>{title}</strong>
        <Select
          aria-label={texts.language}
          size="xs"
          w={150}
          data={languages.map((one) => ({ value: one.id, label: languageName(one.language) }))}
          value={template.id}
          onChange={(id) => id !== null && chooseLanguage(id)}
          allowDeselect={false}
        />
      </div>
      {header !== null && (
        <HeaderField kind={header} limits={limits} file={file} isMissing={isTried && file.upload === null} />
      )}
      {values.map((value, n) => (
        <TextInput
          // biome-ignore lint/suspicious/noArrayIndexKey: parameters are identified by index
          key={n}
          label={texts.parameter({ n: template.parameterNames?.[n] ?? `${n + 1}` })}
          placeholder={n === 0 ? (conversation.contact.name?.split(/\s+/)[0] ?? '') : ''}
          value={value}
          onChange={(event) => {
            const { value: typed } = event.currentTarget
            setValues((before) => before.with(n, typed))
          }}
          error={fieldError(problems[n] ?? null, isTried)}
          dir="auto"
          ref={n === 0 ? first : undefined}
        />
      ))}
      <TemplateInputFields template={template} values={inputs} set={setInputs} isTried={isTried} />
      <TemplatePreview body={template.body} values={values} />
      <div className={styles.sendRow}>
        {/* A file cannot wait: uploads that are not sent are deleted after a day. */}
        <SendLater conversationId={conversation.id} content={fill} isDisabled={header !== null} onScheduled={back} />
        <Button type="submit" leftSection={<IconSend2 size={16} />}>
          {texts.send}
        </Button>
      </div>
    </form>
  )
}

// Empty fields are errors only after an attempt to send.
function fieldError(problem: ReturnType<typeof problemOf>, isTried: boolean): string | undefined {
  if (problem === null || (problem === 'empty' && !isTried)) return undefined
  return t.compose.templates.problems[problem]
}
