//! The few shapes and scales that the charts are drawn with. Colours are the page's: shapes only carry classes.

use super::format::escape;

/// Series beyond this many repeat a colour, with another marker.
const COLOURS: usize = 7;
const MARKERS: usize = 6;

pub struct Svg {
    pub width: f64,
    pub height: f64,
    body: String,
}

#[derive(Clone, Copy)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    pub fn new(width: f64, height: f64) -> Svg {
        Svg {
            width,
            height,
            body: String::new(),
        }
    }

    pub fn text(&mut self, x: f64, y: f64, anchor: Anchor, class: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let text = escape(text);
        self.body +=
            &format!("<text x=\"{x:.1}\" y=\"{y:.1}\"{anchor} class=\"{class}\">{text}</text>");
    }

    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        self.body += &format!(
            "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" class=\"{class}\"/>",
            from.0, from.1, to.0, to.1
        );
    }

    pub fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, class: &str) {
        self.body += &format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" class=\"{class}\"/>",
            width.max(0.0),
            height.max(0.0)
        );
    }

    pub fn path(&mut self, points: &[(f64, f64)], closed: bool, class: &str) {
        let mut d = String::new();
        for (i, (x, y)) in points.iter().enumerate() {
            d += &format!("{}{x:.1} {y:.1}", if i == 0 { "M" } else { "L" });
        }
        let end = if closed { "Z" } else { "" };
        self.body += &format!("<path d=\"{d}{end}\" class=\"{class}\"/>");
    }

    /// Many dots in one element: zero-length strokes with round ends.
    pub fn dots(&mut self, points: &[(f64, f64)], class: &str) {
        let d: String = points
            .iter()
            .map(|(x, y)| format!("M{x:.1} {y:.1}h0"))
            .collect();
        self.body += &format!("<path d=\"{d}\" class=\"{class}\"/>");
    }

    pub fn marker(&mut self, series: usize, (x, y): (f64, f64), hollow: bool) {
        let r = 4.0;
        let d = match series % MARKERS {
            0 => format!(
                "M{:.1} {y:.1}a{r} {r} 0 1 0 {:.1} 0a{r} {r} 0 1 0 -{:.1} 0Z",
                x - r,
                2.0 * r,
                2.0 * r
            ),
            1 => format!("M{:.1} {:.1}h7v7h-7Z", x - 3.5, y - 3.5),
            2 => format!("M{x:.1} {:.1}l4.6 8h-9.2Z", y - 5.0),
            3 => format!("M{x:.1} {:.1}l5 5l-5 5l-5 -5Z", y - 5.0),
            4 => format!("M{x:.1} {:.1}l4.6 -8h-9.2Z", y + 5.0),
            _ => format!("M{:.1} {:.1}h3v3h3v3h-3v3h-3v-3h-3v-3h3Z", x - 1.5, y - 4.5),
        };
        let hollow = if hollow { " hollow" } else { "" };
        self.body += &format!(
            "<path d=\"{d}\" class=\"mark {}{hollow}\"/>",
            colour(series)
        );
    }

    /// The whole element, named and described for those who hear it.
    pub fn finish(self, id: &str, title: &str, description: &str) -> String {
        let class = if self.width < 600.0 {
            " class=\"narrow\""
        } else {
            ""
        };
        format!(
            "<svg{class} viewBox=\"0 0 {:.0} {:.0}\" role=\"img\" aria-labelledby=\"{id}-title {id}-desc\">\
             <title id=\"{id}-title\">{}</title><desc id=\"{id}-desc\">{}</desc>{}</svg>",
            self.width,
            self.height,
            escape(title),
            escape(description),
            self.body
        )
    }
}

/// The class that gives a series its colour.
pub fn colour(series: usize) -> String {
    format!("s{}", series % COLOURS)
}

/// Maps values to a stretch of pixels.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    logarithmic: bool,
}

impl Scale {
    pub fn linear((low, high): (f64, f64), (from, to): (f64, f64)) -> Scale {
        let high = if high > low { high } else { low + 1.0 };
        Scale {
            low,
            high,
            from,
            to,
            logarithmic: false,
        }
    }

    /// Both ends must be positive.
    pub fn logarithmic((low, high): (f64, f64), (from, to): (f64, f64)) -> Scale {
        let high = if high > low { high } else { low * 1.1 };
        Scale {
            low,
            high,
            from,
            to,
            logarithmic: true,
        }
    }

    pub fn at(&self, value: f64) -> f64 {
        let share = if self.logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + (self.to - self.from) * share
    }

    /// Round values inside the scale, about as many as asked for.
    pub fn ticks(&self, wanted: usize) -> Vec<f64> {
        let inside =
            |value: &f64| *value >= self.low * 0.999_999 && *value <= self.high * 1.000_001;
        if self.logarithmic {
            for steps in [
                &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0][..],
                &[1.0, 2.0, 5.0],
                &[1.0, 3.0],
                &[1.0],
            ] {
                let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
                let all = decades.flat_map(|d| steps.iter().map(move |step| step * 10f64.powi(d)));
                let ticks: Vec<f64> = all.filter(inside).collect();
                if ticks.len() <= wanted + 2 {
                    return ticks;
                }
            }
        }
        let rough = (self.high - self.low) / wanted.max(1) as f64;
        let decade = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0]
            .map(|m| m * decade)
            .into_iter()
            .find(|s| *s >= rough);
        let step = step.unwrap_or(rough);
        let first = (self.low / step).ceil() as i64;
        (first..)
            .map(|i| i as f64 * step)
            .take_while(|value| *value <= self.high * 1.000_001)
            .collect()
    }
}

/// Moves labels apart that would overlap: positions by wanted height, at least `gap` apart, inside `top..bottom`.
pub fn spread(wanted: &[f64], gap: f64, top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let mut placed = wanted.to_vec();
    let mut above = top - gap;
    for &i in &order {
        placed[i] = placed[i].max(above + gap);
        above = placed[i];
    }
    let mut below = bottom + gap;
    for &i in order.iter().rev() {
        placed[i] = placed[i].min(below - gap);
        below = placed[i];
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_map_their_ends_and_middles() {
        let linear = Scale::linear((0.0, 10.0), (100.0, 200.0));
        assert_eq!(
            [0.0, 5.0, 10.0].map(|v| linear.at(v)),
            [100.0, 150.0, 200.0]
        );
        let log = Scale::logarithmic((0.1, 10.0), (0.0, 100.0));
        assert!((log.at(1.0) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn ticks_are_round_and_inside() {
        let close = |got: Vec<f64>, expected: &[f64]| {
            assert_eq!(got.len(), expected.len(), "{got:?}");
            assert!(
                got.iter().zip(expected).all(|(g, e)| (g - e).abs() < 1e-9),
                "{got:?}"
            );
        };
        close(
            Scale::linear((0.0, 23.0), (0.0, 1.0)).ticks(5),
            &[0.0, 5.0, 10.0, 15.0, 20.0],
        );
        close(
            Scale::logarithmic((0.2, 60.0), (0.0, 1.0)).ticks(4),
            &[0.3, 1.0, 3.0, 10.0, 30.0],
        );
    }

    #[test]
    fn labels_are_moved_apart_and_kept_inside() {
        assert_eq!(
            spread(&[10.0, 11.0, 50.0], 12.0, 0.0, 100.0),
            [10.0, 22.0, 50.0]
        );
        assert_eq!(spread(&[98.0, 99.0], 12.0, 0.0, 100.0), [88.0, 100.0]);
    }
}
