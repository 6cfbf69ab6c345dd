import { Button, Select, Switch } from '@mantine/core'
import { useState } from 'react'
import { useWorkspace, type Workspace } from '../../data/workspace.ts'
import { useWorkspaceChange } from '../../data/workspace-change.ts'
import { mayIn } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { complain } from '../../ui/overlay/notices.tsx'
import { Loaded } from '../../ui/page/PageBody.tsx'
import { Section } from '../../ui/page/Section.tsx'
import { useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { AnswerGoal } from './AnswerGoal.tsx'
import { DayHours } from './DayHours.tsx'
import styles from './HoursSection.module.css'
import { type Hours, isWhole, likeMonday, sortedWeek, timeZones, usualHours, weekdays } from './week-hours.ts'

/** When people of the team are there. */
export function HoursSection() {
  const workspaceId = useWorkspaceId()
  const query = useWorkspace(workspaceId)
  return (
    <Loaded query={query}>
      {(workspace) => (
        <>
          <HoursForm workspace={workspace} />
          <AnswerGoal workspace={workspace} />
        </>
      )}
    </Loaded>
  )
}

const draftOf = ({ hours }: Workspace) => ({ hours })

function HoursForm({ workspace }: { workspace: Workspace }) {
  const texts = t.settings.hours
  const draft = useDraft(draftOf(workspace))
  const { hours } = draft.value
  const change = useWorkspaceChange(workspace, t.settings.saved)
  const mayChange = mayIn(workspace.id, 'admin')
  const save = () =>
    change.mutate(
      { hours: hours === null ? null : { ...hours, week: sortedWeek(hours.week) } },
      {
        onSuccess: (changed) => draft.reset(draftOf(changed)),
        onError: (error) => draft.refuse(error) || complain(error),
      },
    )
  return (
    <Section
      title={texts.title}
      help={mayChange ? texts.help : t.settings.adminsOnly}
      submit={save}
      footer={
        mayChange && (
          <>
            <Button variant="default" disabled={!draft.isChanged} onClick={() => draft.reset(draftOf(workspace))}>
              {t.common.cancel}
            </Button>
            <Button
              type="submit"
              disabled={!draft.isChanged || (hours !== null && !isWhole(hours.week))}
              loading={change.isPending}
            >
              {t.common.save}
            </Button>
          </>
        )
      }
    >
      <Switch
        label={texts.isKept}
        description={texts.isKeptHelp}
        checked={hours !== null}
        onChange={(event) => draft.set({ hours: event.currentTarget.checked ? usualHours(zoneHere()) : null })}
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
          <Button variant="default" size="compact-sm" onClick={() => change({ week: likeMonday(week) })}>
            {texts.likeMonday}
          </Button>
        </div>
      )}
    </>
  )
}
