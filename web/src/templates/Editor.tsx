import { Button, FileButton, Input, Select, Textarea, TextInput } from '@mantine/core'
import { IconBraces, IconUpload } from '@tabler/icons-react'
import { useRef, useState } from 'react'
import { useTemplates } from '../data/connections.ts'
import { type TemplateContent, uploadSample, useTemplateDrafts } from '../data/team/templates.ts'
import { t } from '../text/index.ts'
import { problemText } from '../ui/format/error-texts.ts'
import { languageName } from '../ui/format/language-name.ts'
import { formatFileSize } from '../ui/format/size.ts'
import { formatPercent } from '../ui/format/time.ts'
import { Segments } from '../ui/page/Segments.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { ButtonFields } from './ButtonFields.tsx'
import { CodeFields } from './CodeFields.tsx'
import { emptyOtp } from './code-texts.ts'
import { convertFormat, languagesWith, nextVariable, sampleOf, variablesIn, withSample } from './draft-content.ts'
import styles from './Editor.module.css'
import { Count, type PartProps, refusalOf } from './editor-parts.tsx'
import type { DraftEditor } from './use-draft-editor.ts'

const isMissing = (message: string): boolean =>
  /^(?:is required|needs (?:a sample|at least)|must be accepted)/.test(message)

/** All fields of a template. */
export function Editor({ editor, isTried }: { editor: DraftEditor; isTried: boolean }) {
  const { data } = useTemplateDrafts(useWorkspaceId(), true)
  const { problems } = editor.draft
  const errorOf = (path: string): string | undefined => {
    const found = problems.find((one) => one.path === path && !one.isWarning && (isTried || !isMissing(one.message)))
    return found && problemText(found.message)
  }
  const part: PartProps = { editor, limits: data?.limits, errorOf }
  return (
    <>
      <Identity {...part} />
      {editor.content.category === 'AUTHENTICATION' ? (
        <CodeFields {...part} />
      ) : (
        <>
          <HeaderFields {...part} />
          <BodyFields {...part} />
          <FooterFields {...part} />
          <ButtonFields {...part} />
        </>
      )}
    </>
  )
}

const categories = ['MARKETING', 'UTILITY', 'AUTHENTICATION'] as const

function Identity({ editor, errorOf }: PartProps) {
  const texts = t.templates.editor
  const { content, change, draft } = editor
  // The platform identifies a template by name and language.
  const isNew = draft.templateId === null
  const { data: templates = [] } = useTemplates(useWorkspaceId(), draft.connectionId)
  const isTaken = isNew && templates.some((one) => one.name === content.name && one.language === content.language)
  return (
    <section className={styles.section} aria-label={texts.about}>
      <TextInput
        label={texts.name}
        description={texts.nameHelp}
        value={content.name}
        disabled={!isNew}
        error={isTaken ? texts.codes.NAME_TAKEN : errorOf('name')}
        autoComplete="off"
        onChange={({ currentTarget }) => change({ name: currentTarget.value.toLowerCase().replaceAll(/[\s-]+/g, '_') })}
      />
      <div className={styles.pair}>
        <Select
          label={texts.language}
          data={languagesWith(content.language).map((value) => ({ value, label: languageName(value) }))}
          value={content.language}
          disabled={!isNew}
          searchable
          allowDeselect={false}
          error={errorOf('language')}
          onChange={(language) => language !== null && change({ language })}
        />
        <Select
          label={texts.category}
          data={categories.map((value) => ({ value, label: t.templates.categories[value] }))}
          value={content.category}
          allowDeselect={false}
          error={errorOf('category')}
          onChange={(chosen) =>
            chosen !== null && change(categoryChange(content, chosen as TemplateContent['category']))
          }
        />
      </div>
      <p className={styles.help}>{texts.categoryHelp[content.category]}</p>
    </section>
  )
}

const categoryChange = ({ otp = emptyOtp }: TemplateContent, category: TemplateContent['category']) =>
  category === 'AUTHENTICATION' ? { category, otp } : { category }

const headerTypes = ['none', 'text', 'image', 'video', 'document', 'location'] as const

function HeaderFields(part: PartProps) {
  const texts = t.templates.editor
  const { editor, limits, errorOf } = part
  const { content, change } = editor
  const { header } = content
  const hasVariable = variablesIn(header.text).length > 0
  return (
    <section className={styles.section} aria-label={texts.header}>
      <h2>{texts.header}</h2>
      <Select
        aria-label={texts.headerType}
        data={headerTypes.map((value) => ({ value, label: texts.headers[value] }))}
        value={header.type}
        allowDeselect={false}
        onChange={(type) => type !== null && change({ header: { ...header, type: type as typeof header.type } })}
      />
      {header.type === 'text' && (
        <>
          <TextInput
            label={texts.headerText}
            value={header.text}
            dir="auto"
            error={errorOf('header.text')}
            onChange={({ currentTarget }) => change({ header: { ...header, text: currentTarget.value } })}
          />
          <div className={styles.tools}>
            {!hasVariable && (
              <Button
                size="compact-sm"
                variant="default"
                leftSection={<IconBraces size={14} />}
                onClick={() =>
                  change({ header: { ...header, text: `${header.text}${nextVariable('', content.format)}` } })
                }
              >
                {texts.addVariable}
              </Button>
            )}
            <Count text={header.text} limit={limits?.header} />
          </div>
          {hasVariable && (
            <TextInput
              label={texts.sampleOf({ name: `{{${variablesIn(header.text)[0]}}}` })}
              value={header.sample}
              dir="auto"
              error={errorOf('header.sample')}
              onChange={({ currentTarget }) => change({ header: { ...header, sample: currentTarget.value } })}
            />
          )}
        </>
      )}
      {header.type === 'location' && <p className={styles.help}>{texts.locationHelp}</p>}
      {(header.type === 'image' || header.type === 'video' || header.type === 'document') && (
        <SampleFile kind={header.type} {...part} />
      )}
    </section>
  )
}

function BodyFields({ editor, limits, errorOf }: PartProps) {
  const texts = t.templates.editor
  const { content, change, draft } = editor
  const field = useRef<HTMLTextAreaElement>(null)
  const addVariable = () => {
    const { selectionStart: from = content.body.length, selectionEnd: to = from } = field.current ?? {}
    const added = nextVariable(content.body, content.format)
    change({ body: content.body.slice(0, from) + added + content.body.slice(to) })
    const at = from + added.length
    setTimeout(() => {
      field.current?.focus()
      field.current?.setSelectionRange(at, at)
    }, 0)
  }
  const warnings = draft.problems.filter(({ path, isWarning }) => path === 'body' && isWarning)
  return (
    <section className={styles.section} aria-label={texts.body}>
      <h2>{texts.body}</h2>
      <Textarea
        ref={field}
        aria-label={texts.body}
        description={texts.bodyHelp}
        autosize
        minRows={5}
        maxRows={16}
        dir="auto"
        value={content.body}
        error={errorOf('body')}
        onChange={({ currentTarget }) => change({ body: currentTarget.value })}
      />
      <div className={styles.tools}>
        <Button size="compact-sm" variant="default" leftSection={<IconBraces size={14} />} onClick={addVariable}>
          {texts.addVariable}
        </Button>
        <Segments
          label={texts.format}
          data={(['positional', 'named'] as const).map((value) => ({ value, label: texts.formats[value] }))}
          value={content.format}
          onChange={(format) => change(convertFormat(content, format))}
        />
        <Count text={content.body} limit={limits?.body} />
      </div>
      {warnings.map(({ message }) => (
        <p key={message} className={styles.warning} role="status">
          {problemText(message)}
        </p>
      ))}
      {variablesIn(content.body).map((name) => (
        <TextInput
          key={name}
          label={texts.sampleOf({ name: `{{${name}}}` })}
          value={sampleOf(content, name)}
          dir="auto"
          error={errorOf(`samples.${name}`)}
          onChange={({ currentTarget }) => change({ samples: withSample(content, name, currentTarget.value) })}
        />
      ))}
      {variablesIn(content.body).length > 0 && <p className={styles.help}>{texts.sampleHelp}</p>}
    </section>
  )
}

function FooterFields({ editor: { content, change }, limits, errorOf }: PartProps) {
  const texts = t.templates.editor
  return (
    <section className={styles.section} aria-label={texts.footer}>
      <h2>{texts.footer}</h2>
      <TextInput
        aria-label={texts.footer}
        value={content.footer}
        dir="auto"
        error={errorOf('footer')}
        onChange={({ currentTarget }) => change({ footer: currentTarget.value })}
      />
      <div className={styles.tools}>
        <Count text={content.footer} limit={limits?.footer} />
      </div>
    </section>
  )
}

const accepted = { image: 'image/jpeg,image/png', video: 'video/mp4', document: 'application/pdf' }

/** Uploads the sample file that the platform reviews with a header. */
function SampleFile({ kind, editor, limits, errorOf }: PartProps & { kind: keyof typeof accepted }) {
  const workspaceId = useWorkspaceId()
  const texts = t.templates.editor
  const [fraction, setFraction] = useState<number | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const upload = async (file: File) => {
    if (!accepted[kind].split(',').includes(file.type)) return setProblem(texts.fileTypes[kind])
    const most = limits?.sampleBytes ?? file.size
    if (file.size > most) return setProblem(texts.fileSize({ most: formatFileSize(most) }))
    setProblem(null)
    setFraction(0)
    try {
      // The server must know the type of the header first.
      const { id } = await editor.flush()
      editor.accept(await uploadSample(workspaceId, id, file, setFraction))
    } catch (error) {
      const { text, quote } = refusalOf(error)
      setProblem(quote === null ? text : `${text} ${quote}`)
    } finally {
      setFraction(null)
    }
  }
  const { fileName } = editor.draft
  return (
    <Input.Wrapper
      label={texts.sampleFile}
      description={texts.sampleFileHelp}
      error={problem ?? errorOf('header.file')}
      labelElement="div"
    >
      <div className={styles.tools}>
        <FileButton accept={accepted[kind]} onChange={(file) => file !== null && void upload(file)}>
          {(props) => (
            <Button
              {...props}
              size="compact-sm"
              variant="default"
              leftSection={<IconUpload size={14} />}
              loading={fraction !== null}
            >
              {fileName === null ? texts.chooseFile : texts.anotherFile}
            </Button>
          )}
        </FileButton>
        <span role="status">{fraction !== null ? formatPercent(fraction) : fileName}</span>
      </div>
    </Input.Wrapper>
  )
}
