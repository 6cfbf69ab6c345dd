import { Button, Select, Switch } from '@mantine/core'
import { useState } from 'react'
import { useWorkspace, type Workspace } from '../../data/workspace.ts'
import { t } from '../../text/index.ts'
import { timeZones } from '../../ui/format/local-time.ts'
import { weekdays } from '../../ui/format/time.ts'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { Section } from '../../ui/page/Section.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { MinutesSection } from '../draft/MinutesSection.tsx'
import { DraftButtons, useWorkspaceDraft } from '../draft/WorkspaceDraft.tsx'
import { DayHours } from './DayHours.tsx'
import styles from './HoursSection.module.css'
import { copyMonday, defaultHours, type Hours, isComplete, sortedWeek } from './week-hours.ts'

/** Default time until people are notified of a waiting customer. */
const defaultMinutes = 15

/** Business hours of the team. */
export function HoursSection() {
  const workspaceId = useWorkspaceId()
  const query = useWorkspace(workspaceId)
  return (
    <QueryBoundary query={query}>
      {(workspace) => (
        <>
          <HoursForm workspace={workspace} />
          <MinutesSection
            workspace={workspace}
            field="answerGoalMinutes"
            defaultMinutes={defaultMinutes}
            texts={t.settings.goal}
          />
        </>
      )}
    </QueryBoundary>
  )
}

function HoursForm({ workspace }: { workspace: Workspace }) {
  const texts = t.settings.hours
  const draft = useWorkspaceDraft(
    workspace,
    ({ hours }) => ({ hours }),
    ({ hours }) => ({ hours: hours === null ? null : { ...hours, week: sortedWeek(hours.week) } }),
  )
  const { mayChange } = draft
  const { hours } = draft.value
  return (
    <Section
      title={texts.title}
      help={mayChange ? texts.help : t.settings.adminsOnly}
      submit={draft.save}
      footer={mayChange && <DraftButtons draft={draft} isComplete={hours === null || isComplete(hours.week)} />}
    >
      <Switch
        label={texts.isShared}
        description={texts.isSharedHelp}
        checked={hours !== null}
        onChange={(event) => draft.set({ hours: event.currentTarget.checked ? defaultHours(zoneHere()) : null })}
        disabled={!mayChange}
      />
      {hours !== null && (
        <WeekFields
          hours={hours}
          change={(to) => draft.set({ hours: { ...hours, ...to } })}
          error={draft.errorOf('hours')}
          disabled={!mayChange}
        />
      )}
    </Section>
  )
}

const zoneHere = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

interface WeekFieldsProps {
  hours: Hours
  change(to: Partial<Hours>): void
  error: string | undefined
  disabled: boolean
}

function WeekFields({ hours: { timeZone, week }, change, error, disabled }: WeekFieldsProps) {
  const texts = t.settings.hours
  const [zones] = useState(() => timeZones(timeZone))
  return (
    <>
      <Select
        label={texts.timeZone}
        data={zones}
        searchable
        allowDeselect={false}
        maw={320}
        value={timeZone}
        onChange={(chosen) => chosen !== null && change({ timeZone: chosen })}
        error={error}
        disabled={disabled}
      />
      <div className={styles.week}>
        {weekdays.map((day, n) => (
          <DayHours
            key={day}
            nth={n}
            spans={week[day]}
            change={(spans) => change({ week: { ...week, [day]: spans } })}
            disabled={disabled}
          />
        ))}
      </div>
      {!disabled && (
        <div>
          <Button variant="default" size="compact-sm" onClick={() => change({ week: copyMonday(week) })}>
            {texts.copyMonday}
          </Button>
        </div>
      )}
    </>
  )
}
