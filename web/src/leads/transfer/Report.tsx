import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type Import, rejectedRowsUrl, useImportActions } from '../../data/imports.ts'
import { t, translateProblem } from '../../text/index.ts'
import { formatDateTime, formatNumber } from '../../ui/format/time.ts'
import { Confirm } from '../../ui/overlay/Confirm.tsx'
import { showError } from '../../ui/overlay/toasts.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { isField } from './mapping.ts'
import styles from './transfer.module.css'

/** Result of an import or dry run: counts, reasons of rejected rows, and a file with them. */
export function Report({ one }: { one: Import }) {
  const workspaceId = useWorkspaceId()
  const { report } = t.transfer
  const { kinds, examples } = one.refusals
  const title = one.state === 'checked' ? report.dry : report.titles[one.state as keyof typeof report.titles]
  const reason = (head: string, { field, message }: { field: string; message: string }) => (
    <li key={`${head} ${field} ${message}`}>
      <strong>{head}</strong>
      <span>
        <Field name={field} one={one} /> {translateProblem(message) ?? message}
      </span>
    </li>
  )
  return (
    <section className={styles.card} aria-label={title} aria-live="polite">
      <strong>{title}</strong>
      {one.problem !== null && <p role="alert">{one.problem}</p>}
      <Counts one={one} />
      {one.state !== 'checked' && <ReportActions one={one} />}
      {kinds.length > 0 && (
        <>
          <h3 className={styles.title}>{report.why}</h3>
          <ul className={styles.kinds}>{kinds.map((kind) => reason(`${formatNumber(kind.count)}×`, kind))}</ul>
          <details>
            <summary>{report.examples}</summary>
            <ul className={styles.kinds}>
              {examples.map((example) => reason(report.row({ n: formatNumber(example.row) }), example))}
            </ul>
          </details>
          <div className={styles.row}>
            <Button
              component="a"
              variant="default"
              href={rejectedRowsUrl(workspaceId, one.id)}
              download
              leftSection={<IconDownload size={16} aria-hidden="true" />}
            >
              {report.download}
            </Button>
            <span className={styles.muted}>{report.downloadHelp}</span>
          </div>
        </>
      )}
    </section>
  )
}

/** Links to the leads, and undo. */
function ReportActions({ one }: { one: Import }) {
  const workspaceId = useWorkspaceId()
  if (one.created + one.updated + one.unchanged === 0) return null
  return (
    <div className={styles.row}>
      <Button
        renderRoot={(props) => (
          <Link {...props} to="/w/$workspaceId/leads" params={{ workspaceId }} search={{ import: one.id }} />
        )}
      >
        {t.transfer.report.seeLeads}
      </Button>
      <Undo one={one} />
    </div>
  )
}

/** Name of a field on this page: the custom field's label in the file; otherwise the name in the API. */
function Field({ name, one }: { name: string; one: Import }) {
  if (name === '') return null
  if (isField(name)) return <b>{t.transfer.mapping.targets[name]}</b>
  const heading = one.choice?.columns.find(({ target }) => target === name)?.name
  return heading === undefined ? <code>{name}</code> : <b>{heading}</b>
}

/** Numbers of created, updated, unchanged and rejected rows, and of all rows so far. */
export function Counts({ one }: { one: Import }) {
  const { counts } = t.transfer
  const all = ['rows', 'created', 'updated', 'unchanged', 'refused'] as const
  return (
    <dl className={styles.counts}>
      {all.map((name) => (
        <div key={name} data-bad={(name === 'refused' && one.refused > 0) || undefined}>
          <dt>{counts[name]}</dt>
          <dd>{formatNumber(one[name])}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Undoes an import within 24 hours, with progress and the number of leads that were kept. */
function Undo({ one }: { one: Import }) {
  const workspaceId = useWorkspaceId()
  const [isConfirming, setConfirming] = useState(false)
  const { undo } = useImportActions(workspaceId)
  const close = () => setConfirming(false)
  const { undo: texts } = t.transfer
  if (one.undo === null || one.undo.leads === 0) return null
  const { state, leads, undone, kept, until } = one.undo
  const all = formatNumber(leads)
  if (state === 'over') return <span className={styles.muted}>{texts.over}</span>
  if (state === 'undoing') return <span role="status">{texts.undoing({ done: formatNumber(undone + kept), all })}</span>
  if (state === 'undone') {
    return (
      <span role="status">
        {texts.undone({ n: undone })} {kept > 0 && texts.kept({ n: kept })}
      </span>
    )
  }
  return (
    <>
      <Button variant="default" onClick={() => setConfirming(true)}>
        {texts.action}
      </Button>
      <span className={styles.muted}>{texts.until({ when: formatDateTime(until ?? '') })}</span>
      {isConfirming && (
        <Confirm
          title={texts.confirm({ n: leads })}
          action={texts.action}
          run={() => undo(one.id).catch(showError).then(close)}
          close={close}
        >
          {texts.help}
        </Confirm>
      )}
    </>
  )
}
