// The rules of the house (CONTRIBUTING, "House rules") as lint: rooms know only the rooms below them, core is pure, time and
// the terminal are each read in one place, and functions stay short.
import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** From the top down. A room may import the rooms of later steps only; rooms on one step do not know each other. */
const STEPS = [
  ['commands'],
  ['cli'],
  ['api'],
  ['agent'],
  ['kuberuntime', 'sources'],
  ['host', 'manifest'],
  ['cri'],
  ['core'],
  ['lib'],
];

const CLOCK_GLOBALS = ['setTimeout', 'setInterval', 'setImmediate'].map(name => ({
  name,
  message: 'Time is a parameter: take a Clock (src/lib/clock.ts).',
}));

const HOUSE_SYNTAX = [
  {
    selector: "MemberExpression[object.name='Date'][property.name='now']",
    message: 'Time is a parameter: take a Clock.',
  },
  {selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: 'Time is a parameter: take a Clock.'},
  {selector: "MemberExpression[object.name='process'][property.name='exit']", message: 'Set process.exitCode instead.'},
  {
    selector: "ImportExpression[source.value='@kubernetes/client-node']",
    message: 'Only scripts/ may load client-node.',
  },
];

function roomRule(step, room) {
  const forbidden = STEPS.slice(0, step + 1)
    .flat()
    .filter(other => other !== room);
  return {
    files: [`src/${room}/**/*.ts`],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              // Generated wire types, their enums and codecs are plain data: core may build requests of them.
              regex: `^(\\.\\./)+(?!${room === 'core' ? 'cri/gen/' : '$'})(${forbidden.join('|')})/`,
              message: `${room}/ may only import rooms below it (see CONTRIBUTING).`,
            },
            ...(room === 'core' ? CORE_IMPORTS : []),
            ...(room === 'cli' || room === 'commands' ? [] : TERMINAL_IMPORTS),
          ],
        },
      ],
    },
  };
}

const CORE_IMPORTS = [
  {regex: '^node:(?!crypto$)', message: 'core/ is pure: it decides from plain data.'},
  {regex: '^(?!\\.|node:)', message: 'core/ imports only core, lib and types of cri/gen.'},
];
const TERMINAL_IMPORTS = [
  {regex: '^(chalk|listr2|@oclif/core)$', message: 'Only cli/ and commands/ know the terminal.'},
];

export default tseslint.config(
  {ignores: ['dist/', 'coverage/', 'src/cri/gen/', '**/*.gen.ts', 'node_modules/', '.tmp/']},
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: {allowDefaultProject: ['eslint.config.js', 'bin/*.js']},
        tsconfigRootDir: import.meta.dirname,
      },
    },
    linterOptions: {reportUnusedDisableDirectives: 'error'},
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': ['error', {considerDefaultExhaustiveForUnions: true}],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', {allowNumber: true, allowBoolean: true}],
      '@typescript-eslint/no-confusing-void-expression': ['error', {ignoreArrowShorthand: true}],
      '@typescript-eslint/no-unnecessary-condition': ['error', {allowConstantLoopConditions: 'only-allowed-literals'}],
      '@typescript-eslint/no-unused-vars': ['error', {argsIgnorePattern: '^_', varsIgnorePattern: '^_'}],
      '@typescript-eslint/return-await': ['error', 'in-try-catch'],
      'no-restricted-globals': ['error', ...CLOCK_GLOBALS],
      'no-restricted-syntax': ['error', ...HOUSE_SYNTAX],
      'no-empty': ['error', {allowEmptyCatch: false}],
      'no-control-regex': 'off',
      eqeqeq: 'error',
      'no-console': 'error',
    },
  },
  {
    files: ['src/**/*.ts'],
    rules: {
      'max-lines-per-function': ['error', {max: 60, skipBlankLines: true, skipComments: true}],
      'max-params': ['error', 4],
      'max-lines': ['error', {max: 400, skipBlankLines: true, skipComments: true}],
      'no-restricted-exports': ['error', {restrictDefaultExports: {direct: true, defaultFrom: true, named: true}}],
    },
  },
  ...STEPS.flatMap((rooms, step) => rooms.map(room => roomRule(step, room))),
  {files: ['src/lib/clock.ts'], rules: {'no-restricted-globals': 'off', 'no-restricted-syntax': 'off'}},
  {files: ['src/commands/**/*.ts'], rules: {'no-restricted-exports': 'off', 'max-lines': ['error', {max: 80}]}},
  {
    files: ['test/**/*.ts', 'scripts/**/*.ts', 'bin/**', '*.config.*'],
    rules: {
      'no-console': 'off',
      'no-restricted-globals': 'off',
      'no-restricted-syntax': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-type-assertion': 'off',
    },
  },
  {files: ['**/*.js'], ...tseslint.configs.disableTypeChecked},
);
