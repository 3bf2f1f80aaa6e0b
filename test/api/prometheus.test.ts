import {describe, expect, it} from 'vitest';
import {Counter, exposition, Histogram} from '../../src/api/prometheus.js';

describe('exposition', () => {
  it('is a line a sample, behind help and type', () => {
    const text = exposition([
      {name: 'a_total', help: 'What.', type: 'counter', samples: [{labels: {x: '1', y: ''}, value: 2}, {value: 0.5}]},
      {name: 'b', help: 'Nothing yet.', type: 'gauge', samples: []},
    ]);
    expect(text).toBe(
      '# HELP a_total What.\n# TYPE a_total counter\na_total{x="1",y=""} 2\na_total 0.5\n# HELP b Nothing yet.\n# TYPE b gauge\n',
    );
  });

  it.for([
    ['a "b"', '"a \\"b\\""'],
    ['a\\b', '"a\\\\b"'],
    ['a\nb', '"a\\nb"'],
    ['\\n', '"\\\\n"'],
    ['ü', '"ü"'],
  ] as const)('writes the label %j as %s', ([value, want]) => {
    const [, , line] = exposition([
      {name: 'a', help: '', type: 'gauge', samples: [{labels: {l: value}, value: 1}]},
    ]).split('\n');
    expect(line).toBe(`a{l=${want}} 1`);
  });

  it.for([
    [1e21, '1e+21'],
    [NaN, 'NaN'],
    [Infinity, '+Inf'],
    [-Infinity, '-Inf'],
    [-0.25, '-0.25'],
  ] as const)('writes the number %d as %s', ([value, want]) => {
    expect(exposition([{name: 'a', help: 'one\ntwo \\', type: 'gauge', samples: [{value}]}])).toBe(
      `# HELP a one\\ntwo \\\\\n# TYPE a gauge\na ${want}\n`,
    );
  });
});

describe('a counter', () => {
  it('counts each set of labels for itself, and forgets them by one of them', () => {
    const counter = new Counter({name: 'c', help: ''});
    for (const [pod, result] of [
      ['a', 'ok'],
      ['a', 'ok'],
      ['a', 'bad'],
      ['b', 'ok'],
    ] as const)
      counter.inc({pod, result});
    const values = () =>
      counter.family().samples.map(({labels, value}) => `${Object.values(labels ?? {}).join(' ')} ${value}`);
    expect(values()).toEqual(['a ok 2', 'a bad 1', 'b ok 1']);
    counter.forget('pod', 'a');
    expect(values()).toEqual(['b ok 1']);
  });
});

describe('a histogram', () => {
  const lines = (histogram: Histogram): readonly string[] =>
    exposition([histogram.family()]).trim().split('\n').slice(2);

  it('has cumulative buckets, to which their bounds belong, a sum and a count', () => {
    const histogram = new Histogram({name: 'h', help: ''}, [0.5, 1], true);
    for (const value of [0.5, 0.75, 1, 7]) histogram.observe({op: 'x'}, value);
    histogram.observe({op: 'y'}, 0);
    expect(lines(histogram)).toEqual([
      'h_bucket{op="x",le="0.5"} 1',
      'h_bucket{op="x",le="1"} 3',
      'h_bucket{op="x",le="+Inf"} 4',
      'h_sum{op="x"} 9.25',
      'h_count{op="x"} 4',
      'h_bucket{op="y",le="0.5"} 1',
      'h_bucket{op="y",le="1"} 1',
      'h_bucket{op="y",le="+Inf"} 1',
      'h_sum{op="y"} 0',
      'h_count{op="y"} 1',
    ]);
  });

  it('without labels is there from the start, with labels it is not', () => {
    expect(lines(new Histogram({name: 'h', help: ''}, [1], false))).toEqual([
      'h_bucket{le="1"} 0',
      'h_bucket{le="+Inf"} 0',
      'h_sum 0',
      'h_count 0',
    ]);
    expect(lines(new Histogram({name: 'h', help: ''}, [1], true))).toEqual([]);
  });
});
