-- With what a page sounds, as each person chose it; null: as usual.
alter table notice_settings
  add column tone text
  constraint notice_settings_tone_check check (tone in ('chime', 'drop', 'knock'));
