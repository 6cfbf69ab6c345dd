import { Button, FileButton, Progress, Select, Switch, TextInput } from '@mantine/core'
import { IconFileText } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { type ImportResult, importFiles, importSite } from '../data/team/knowledge.ts'
import { hasRole } from '../session/session.ts'
import { language as appLanguage, t } from '../text/index.ts'
import { Chip } from '../ui/Chip.tsx'
import { problemText } from '../ui/format/error-texts.ts'
import { languageName } from '../ui/format/language-name.ts'
import { showError } from '../ui/overlay/toasts.tsx'
import { PanelButtons } from '../ui/page/PanelButtons.tsx'
import { Segments } from '../ui/page/Segments.tsx'
import { SidePanel } from '../ui/page/SidePanel.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { languageCodes } from './article-parts.tsx'
import styles from './Knowledge.module.css'

const maxFiles = 200
const maxBytes = 3 * 1024 * 1024

/** Imports files or the pages of a site: first shows what would change, then changes it. */
export function ImportPanel({ close }: { close(): void }) {
  const workspaceId = useWorkspaceId()
  const texts = t.knowledge.import
  const isAdmin = hasRole(workspaceId, 'admin')
  const [from, setFrom] = useState<'files' | 'site'>('files')
  const [files, setFiles] = useState<readonly File[]>([])
  const [siteMap, setSiteMap] = useState('')
  const [language, setLanguage] = useState<string>(appLanguage)
  const [publish, setPublish] = useState(false)
  const run = useImport(workspaceId)
  const isTooLarge = files.length > maxFiles || files.reduce((sum, { size }) => sum + size, 0) > maxBytes
  const source = from === 'files' ? { files } : { siteMap: siteMap.trim() }
  const isReady = from === 'files' ? files.length > 0 && !isTooLarge : siteMap.trim() !== ''
  const submit = () => void run.start(source, { language, publish, dryRun: run.results === null })
  const change = <T,>(set: (value: T) => void) => {
    return (value: T) => {
      set(value)
      run.reset()
    }
  }
  return (
    <SidePanel
      title={texts.title}
      close={close}
      submit={submit}
      footer={
        run.isDone ? (
          <Button onClick={close}>{t.common.close}</Button>
        ) : (
          <PanelButtons
            close={close}
            action={run.results === null ? texts.check : texts.run}
            isBusy={run.isRunning}
            disabled={!isReady}
          />
        )
      }
    >
      {isAdmin && (
        <Segments
          label={texts.from}
          data={(['files', 'site'] as const).map((value) => ({ value, label: texts.sources[value] }))}
          value={from}
          onChange={change(setFrom)}
        />
      )}
      {from === 'files' ? (
        <FileChoice files={files} choose={change(setFiles)} isTooLarge={isTooLarge} />
      ) : (
        <TextInput
          label={texts.siteMap}
          description={texts.siteMapHelp}
          type="url"
          dir="ltr"
          placeholder="https://example.com/sitemap.xml"
          value={siteMap}
          maxLength={1000}
          onChange={({ currentTarget }) => change(setSiteMap)(currentTarget.value)}
        />
      )}
      <Options
        language={language}
        setLanguage={change(setLanguage)}
        publish={publish}
        setPublish={change(setPublish)}
      />
      {run.progress !== null && <Progress value={run.progress * 100} aria-label={texts.progress} />}
      {run.results !== null && <Results results={run.results} isDone={run.isDone} />}
    </SidePanel>
  )
}

interface OptionsProps {
  language: string
  setLanguage(language: string): void
  publish: boolean
  setPublish(publish: boolean): void
}

function Options({ language, setLanguage, publish, setPublish }: OptionsProps) {
  const texts = t.knowledge.import
  return (
    <>
      <Select
        label={t.knowledge.fields.language}
        description={texts.languageHelp}
        data={languageCodes().map((value) => ({ value, label: languageName(value) }))}
        value={language}
        searchable
        allowDeselect={false}
        onChange={(value) => value !== null && setLanguage(value)}
      />
      {hasRole(useWorkspaceId(), 'admin') && (
        <Switch
          label={texts.publish}
          checked={publish}
          onChange={({ currentTarget }) => setPublish(currentTarget.checked)}
        />
      )}
    </>
  )
}

interface FileChoiceProps {
  files: readonly File[]
  choose(files: readonly File[]): void
  isTooLarge: boolean
}

function FileChoice({ files, choose, isTooLarge }: FileChoiceProps) {
  const texts = t.knowledge.import
  return (
    <div>
      <FileButton multiple accept=".md,.markdown,.csv" onChange={choose}>
        {(props) => (
          <Button {...props} variant="default" leftSection={<IconFileText size={16} />}>
            {files.length === 0 ? texts.choose : texts.chosen({ n: files.length })}
          </Button>
        )}
      </FileButton>
      <p className={styles.help}>{texts.filesHelp}</p>
      {isTooLarge && (
        <p className={styles.notice} role="alert">
          {texts.tooLarge}
        </p>
      )}
    </div>
  )
}

type Source = { files: readonly File[] } | { siteMap: string }

function useImport(workspaceId: string) {
  const queries = useQueryClient()
  const [results, setResults] = useState<readonly ImportResult[] | null>(null)
  const [progress, setProgress] = useState<number | null>(null)
  const [isRunning, setRunning] = useState(false)
  const [isDone, setDone] = useState(false)
  const stopping = useRef<AbortController>(undefined)
  // Closing the panel stops it after the pages that are being read.
  useEffect(() => () => stopping.current?.abort(), [])
  const start = async (source: Source, options: { language: string; publish: boolean; dryRun: boolean }) => {
    setRunning(true)
    stopping.current = new AbortController()
    const { signal } = stopping.current
    const onProgress = (read: readonly ImportResult[], total: number) => setProgress(read.length / total)
    try {
      const found =
        'files' in source
          ? await importFiles(queries, workspaceId, await readFiles(source.files), options)
          : await importSite(queries, workspaceId, source.siteMap, options, { onProgress, signal })
      setResults(found)
      setDone(!options.dryRun)
    } catch (error) {
      showError(error)
    } finally {
      setRunning(false)
      setProgress(null)
    }
  }
  const reset = () => {
    setResults(null)
    setDone(false)
  }
  return { start, reset, results, progress, isRunning, isDone }
}

const readFiles = (files: readonly File[]) =>
  Promise.all(files.map(async (file) => ({ path: file.webkitRelativePath || file.name, text: await file.text() })))

const maxShown = 200

function Results({ results, isDone }: { results: readonly ImportResult[]; isDone: boolean }) {
  const texts = t.knowledge.import
  const counts = Object.entries(Object.groupBy(results, ({ action }) => action))
  return (
    <section aria-label={texts.results} role="status">
      <p>{isDone ? texts.done : texts.wouldChange}</p>
      <p>
        {counts.map(([action, some = []]) => (
          <span key={action}>
            {texts.actions[action as ImportResult['action']]}: {some.length}{' '}
          </span>
        ))}
      </p>
      <ul className={styles.results}>
        {results.slice(0, maxShown).map(({ address, action, title, problem }) => (
          <li key={address}>
            <Chip tone={action === 'failed' || action === 'refused' ? 'attention' : 'plain'}>
              {texts.actions[action]}
            </Chip>
            <bdi>{problem === null ? (title ?? address) : `${address}: ${problemText(problem)}`}</bdi>
          </li>
        ))}
      </ul>
    </section>
  )
}
