import { Radio, Select, Stack, Switch, useMantineColorScheme } from '@mantine/core'
import { chooseLanguage, language, t } from '../text/index.ts'
import { type Language, languages } from '../text/languages.ts'
import { Section } from '../ui/page/Section.tsx'
import { enterSends, opensNext, useStoredToggle } from '../ui/stored-toggles.ts'

/** Preferences of this browser; applied at once. */
export function Preferences() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Section title={t.profile.preferences} help={t.profile.preferencesHelp}>
      <Select
        label={t.common.language}
        w={260}
        data={Object.entries(languages).map(([value, label]) => ({ value, label }))}
        value={language}
        onChange={(chosen) => chosen !== null && chosen !== language && chooseLanguage(chosen as Language)}
        allowDeselect={false}
      />
      <Radio.Group
        label={t.common.appearance}
        value={colorScheme}
        onChange={(chosen) => setColorScheme(chosen as typeof colorScheme)}
      >
        <Stack gap={6} mt={4}>
          {(['light', 'dark', 'auto'] as const).map((one) => (
            <Radio key={one} value={one} label={t.common.appearances[one]} />
          ))}
        </Stack>
      </Radio.Group>
      <Switch
        label={t.profile.enterSends}
        description={t.profile.enterSendsHelp}
        checked={useStoredToggle(enterSends)}
        onChange={(event) => enterSends.set(event.currentTarget.checked)}
      />
      <Switch
        label={t.profile.opensNext}
        description={t.profile.opensNextHelp}
        checked={useStoredToggle(opensNext)}
        onChange={(event) => opensNext.set(event.currentTarget.checked)}
      />
    </Section>
  )
}
