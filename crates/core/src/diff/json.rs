use super::Diff;
use crate::json::JsonStr;

impl Diff {
    /// Appends `"differences":[…],"more":n`, two members of a JSON object.
    pub fn write_members(&self, out: &mut String) {
        out.push_str(r#""differences":["#);
        for (index, difference) in self.differences.iter().enumerate() {
            out.push_str(if index == 0 {
                r#"{"pointer":"#
            } else {
                r#",{"pointer":"#
            });
            JsonStr::from_plain(&difference.pointer).write_quoted(out);
            let (change, part, nature) = (
                difference.change.name(),
                difference.part.name(),
                difference.nature.name(),
            );
            out.push_str(&format!(
                r#","change":"{change}","part":"{part}","nature":"{nature}""#
            ));
            for (name, excerpt) in [
                ("recorded", &difference.recorded),
                ("actual", &difference.actual),
            ] {
                if let Some(excerpt) = excerpt {
                    out.push_str(&format!(r#","{name}":"#));
                    JsonStr::from_plain(excerpt).write_quoted(out);
                }
            }
            out.push('}');
        }
        out.push_str(&format!(r#"],"more":{}"#, self.more));
    }
}
